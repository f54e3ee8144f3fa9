//! The method of a fit, and the settings that only some methods have.

use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;
use eigenspan_core::PceParams;
use eigenspan_core::registry::{METHODS, Method};
use eigenspan_core::settings::SettingError;
use serde_json::{Value, json};

use crate::args::Fitting;
use crate::failure::Failure;

/// The method, and the settings that only some methods have.
#[derive(ClapArgs)]
pub struct Choice {
    /// The method; `eigenspan methods` says what each of them is
    #[arg(long, value_name = "NAME", default_value = "pce", hide_possible_values = true,
        value_parser = PossibleValuesParser::new(METHODS.iter().map(|method| method.name)))]
    method: String,
    /// Use the settings of the paper's experiments where no other flag says otherwise
    #[arg(long)]
    as_published: bool,
    /// Neighbours of a sample (lpp, npe, lle), or votes (nn)
    #[arg(long, value_name = "N")]
    neighbours: Option<usize>,
    /// Weights of directions: `hard` (1/σ, as published), `soft`, `auto` (soft, chosen by the labels where there are some),
    /// `scores` or `whitened` (pce); of neighbours: `heat`, `binary` or `cosine` (lpp)
    #[arg(long, value_name = "KIND")]
    weights: Option<String>,
    /// Form of soft weights, from 0 (denoised PCA) to 1 (the ridge form of 1/σ; the default) (pce)
    #[arg(long, value_name = "γ", allow_negative_numbers = true)]
    gamma: Option<f64>,
    /// Scale the features of every sample to length one (pce)
    #[arg(long)]
    unit_features: bool,
    /// How far samples are from each other: `euclidean` or `cosine` (nn)
    #[arg(long, value_name = "KIND")]
    metric: Option<String>,
    /// The price of a sample on the wrong side of its margin (svm)
    #[arg(long, value_name = "C")]
    cost: Option<f64>,
    /// The value of one more feature that every sample gets, for borders that miss the origin (svm)
    #[arg(long, value_name = "B")]
    bias: Option<f64>,
    /// How small the last step, or what is left to explain, must be (l1-graph, nmf, nenmf, robust-pca, rosl, svm, src)
    #[arg(long, alias = "tolerance", value_name = "T")]
    tol: Option<f64>,
    /// Iterations, at most (l1-graph, nmf, nenmf, robust-pca, rosl, cesr, svm, src)
    #[arg(long, alias = "rounds", value_name = "N")]
    max_iter: Option<usize>,
    /// The seed of the first guess (nmf, nenmf, rosl), or of the order of the samples (svm)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Give every feature variance one (pca)
    #[arg(long)]
    whiten: bool,
    /// Any setting of the method by its name, as `eigenspan inspect MODEL` shows it: `--set ridge=1e-3`, or several
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    settings: Vec<(String, Value)>,
}

/// A setting and its value: JSON, or a word as it is.
fn parse_setting(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected a setting and its value, as in dim=30")?;
    Ok((name.trim().into(), serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()))))
}

/// A flag that was given: its name, the setting it stands for, and the value.
type Given = (&'static str, &'static str, Value);

impl Choice {
    /// The name of the method.
    pub fn name(&self) -> &str {
        &self.method
    }

    /// The parameters, of which method.
    pub fn method(&self, fitting: &Fitting) -> Result<Method, Failure> {
        let base = if self.as_published { Method::as_published(&self.method) } else { Method::named(&self.method) };
        let Some(base) = base else {
            let fact = format!("the paper does not run `{}`: there are no settings to take from it", self.method);
            return Err(Failure::refused(fact, "leave `--as-published` out"));
        };
        let own = self.given(&base)?;
        // The weights of PCE-auto are what it is.
        let preset = own.iter().find(|(flag, ..)| base.name() != self.method && OF_PRESET.contains(flag));
        if let Some((flag, ..)) = preset {
            return Err(no_effect(&self.method, flag));
        }
        let method = own.into_iter().chain(fitting.given(&base)).try_fold(base, |method, given| {
            let (flag, name, value) = given;
            self.with(method, flag, name, &value)
        })?;
        self.settings.iter().try_fold(method, |method, (name, value)| {
            let flag = format!("--set {name}");
            self.with(method, &flag, name, value)
        })
    }

    fn with(&self, method: Method, flag: &str, name: &str, value: &Value) -> Result<Method, Failure> {
        // A method that has more than one way to center has no flag for it.
        if flag == "--center" && method.settings().get(name).is_some_and(Value::is_string) {
            return Err(no_effect(&self.method, flag));
        }
        method.with(name, value).map_err(|error| match error {
            SettingError::Unknown { known, .. } if flag.starts_with("--set") => Failure::refused(
                format!("the method `{}` has no setting `{name}`", self.method),
                format!("its settings are {}", known.join(", ")),
            ),
            SettingError::Unknown { .. } => no_effect(&self.method, flag),
            error @ SettingError::Value { .. } => {
                Failure::refused(format!("`{}` {error}", self.method), "see `eigenspan fit --help`")
            }
        })
    }
}

/// Flags that a preset sets itself.
const OF_PRESET: [&str; 3] = ["--weights", "--gamma", "--unit-features"];

impl Fitting {
    /// The parameters of PCE.
    pub fn params(&self) -> Result<PceParams, Failure> {
        let base = Method::Pce(PceParams::default());
        let method = self.given(&base).into_iter().try_fold(base, |method, (_, name, value)| {
            let refused =
                |error: SettingError| Failure::refused(format!("`pce` {error}"), "see `eigenspan fit --help`");
            method.with(name, &value).map_err(refused)
        })?;
        let Method::Pce(params) = method else { unreachable!("a setting does not change the method") };
        Ok(params)
    }

    /// The flags that were given, as settings of the method.
    fn given(&self, method: &Method) -> Vec<Given> {
        let energy = match method {
            Method::Pca(_) if self.dim.is_some() => ("--energy", "dim", self.energy.map(|_| json!(self.dim))),
            Method::Pca(_) => ("--energy", "dim", self.energy.map(|share| json!(share))),
            _ => ("--energy", of_pce("lambda", method), self.energy.map(|share| json!({ "energy": share }))),
        };
        given([
            ("--dim", "dim", self.dim.map(|dim| json!(dim))),
            ("--lambda", "lambda", self.lambda.as_ref().map(|lambda| json!(lambda.0))),
            ("--noise", of_pce("lambda", method), self.noise.map(|deviation| json!({ "noise": deviation }))),
            energy,
            ("--rank-rule", "rank_rule", self.rank_rule.as_ref().map(word)),
            ("--normalize", "normalize", self.normalize.as_ref().map(word)),
            ("--center", "center", self.center.then_some(json!(true))),
            ("--strict", "strict", self.strict.then_some(json!(true))),
            ("--solver", "solver", self.solver.as_ref().map(word)),
        ])
    }
}

/// The setting, where the method is PCE; other methods mean another thing by that name.
fn of_pce(name: &'static str, method: &Method) -> &'static str {
    if let Method::Pce(_) = method { name } else { "" }
}

/// The word of a flag.
fn word(value: &impl clap::ValueEnum) -> Value {
    json!(value.to_possible_value().expect("no value is skipped").get_name())
}

impl Choice {
    /// The flags that were given, as settings of the method.
    fn given(&self, method: &Method) -> Result<Vec<Given>, Failure> {
        let soft = self.weights.as_deref() == Some("soft");
        let weights = match (method, self.gamma) {
            (Method::Pce(_), Some(gamma)) if soft => Some(json!({ "soft": gamma })),
            (Method::Pce(_), Some(_)) if method.name() == self.method => {
                return Err(Failure::refused("`--gamma` has no effect with these weights", "add `--weights soft`"));
            }
            _ => self.weights.as_ref().map(|kind| json!(kind)),
        };
        Ok(given([
            ("--weights", "weights", weights),
            (
                "--gamma",
                "gamma",
                self.gamma.filter(|_| !soft || method.name() != self.method).map(|gamma| json!(gamma)),
            ),
            ("--neighbours", "neighbours", self.neighbours.map(|n| json!(n))),
            ("--unit-features", "unit_features", self.unit_features.then_some(json!(true))),
            ("--metric", "metric", self.metric.as_ref().map(|kind| json!(kind))),
            ("--cost", "cost", self.cost.map(|c| json!(c))),
            ("--bias", "bias", self.bias.map(|b| json!(b))),
            ("--tol", "tol", self.tol.map(|t| json!(t))),
            ("--max-iter", "max_iter", self.max_iter.map(|n| json!(n))),
            ("--seed", "seed", self.seed.map(|n| json!(n))),
            ("--whiten", "whiten", self.whiten.then_some(json!(true))),
        ]))
    }
}

fn given<const N: usize>(flags: [(&'static str, &'static str, Option<Value>); N]) -> Vec<Given> {
    flags.into_iter().filter_map(|(flag, name, value)| Some((flag, name, value?))).collect()
}

fn no_effect(method: &str, flag: &str) -> Failure {
    Failure::refused(
        format!("`{flag}` has no effect with the method `{method}`"),
        "leave it out, or see `eigenspan fit --help` for the methods that have it",
    )
}
