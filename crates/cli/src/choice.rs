//! The method of a fit, and the settings that only some methods have.

use clap::Args as ClapArgs;
use clap::builder::PossibleValuesParser;
use eigenspan::method::pca::{Components, PcaParams};
use eigenspan::registry::{METHODS, Method};
use eigenspan::{Lambda, PceParams, Weights};
use eigenspan_study::settings::as_kept;
use serde_json::{Value, json};

use crate::args::{Fitting, LambdaArg, NormalizeArg};
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
    #[arg(long, value_name = "T")]
    tolerance: Option<f64>,
    /// Rounds of the iteration, at most (l1-graph, nmf, nenmf, robust-pca, rosl, cesr, svm, src)
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// The seed of the first guess (nmf, nenmf, rosl), or of the order of the samples (svm)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Give every feature variance one (pca)
    #[arg(long)]
    whiten: bool,
}

/// Flags that PCA knows.
const OF_PCA: [&str; 4] = ["--dim", "--energy", "--solver", "--whiten"];
/// Flags of some methods only that PCE knows.
const OF_PCE: [&str; 3] = ["--weights", "--gamma", "--unit-features"];

/// A flag that was given: its name, the setting it stands for, and the value.
type Given = (&'static str, &'static str, Value);

impl Choice {
    /// The name of the method.
    pub fn name(&self) -> &str {
        &self.method
    }

    /// What is asked, of which method.
    pub fn method(&self, fitting: &Fitting) -> Result<Method, Failure> {
        let name = self.method.as_str();
        let own = self.given();
        match name {
            "pce" => {
                none_of(name, &own.into_iter().filter(|(flag, ..)| !OF_PCE.contains(flag)).collect::<Vec<_>>())?;
                let (weights, unit_features) = (self.weights()?, self.unit_features);
                Ok(Method::Pce(PceParams { weights, unit_features, ..fitting.params() }))
            }
            "pce-auto" => {
                none_of(name, &own)?;
                let PceParams { weights, unit_features, .. } = PceParams::auto();
                Ok(Method::Pce(PceParams { weights, unit_features, ..fitting.params() }))
            }
            "pca" => {
                let flags = own.into_iter().chain(fitting.of_all()).chain(fitting.of_pce());
                none_of(name, &flags.filter(|(flag, ..)| !OF_PCA.contains(flag)).collect::<Vec<_>>())?;
                Ok(Method::Pca(self.pca(fitting)))
            }
            _ => {
                none_of(name, &fitting.of_pce())?;
                self.overlaid(own.into_iter().chain(fitting.of_all()))
            }
        }
    }

    fn pca(&self, fitting: &Fitting) -> PcaParams {
        let Fitting { dim, energy, .. } = *fitting;
        let components = match (dim, energy) {
            (Some(count), _) => Components::Count(count),
            (_, Some(share)) => Components::Share(share),
            _ => Components::Auto,
        };
        PcaParams { components, whiten: self.whiten, solver: fitting.solver() }
    }
}

impl Fitting {
    /// Flags that say something to every method that has the setting.
    fn of_all(&self) -> Vec<Given> {
        let lambda = self.lambda.map(|LambdaArg(lambda)| match lambda {
            Lambda::Fixed(number) => json!(number),
            other => json!(other),
        });
        let normalize = self.normalize.map(|asked| match asked {
            NormalizeArg::Unit => json!("unit"),
            NormalizeArg::None => json!("none"),
            NormalizeArg::Zscore => json!("zscore"),
        });
        given([
            ("--dim", "dim", self.dim.map(|dim| json!(dim))),
            ("--lambda", "lambda", lambda),
            ("--normalize", "normalize", normalize),
            ("--center", "center", self.center.then_some(json!(true))),
        ])
    }

    /// Flags that no method but PCE and PCA knows.
    fn of_pce(&self) -> Vec<Given> {
        let set = |set: bool| set.then_some(Value::Null);
        given([
            ("--noise", "noise", set(self.noise.is_some())),
            ("--energy", "energy", set(self.energy.is_some())),
            ("--solver", "solver", set(self.solver.is_some())),
            ("--rank-rule", "rank_rule", set(self.rank_rule.is_some())),
            ("--strict", "strict", set(self.strict)),
        ])
    }
}

impl Choice {
    /// How PCE is to weight directions.
    fn weights(&self) -> Result<Weights, Failure> {
        let weights = match self.weights.as_deref() {
            None | Some("hard") => Weights::Hard,
            Some("soft") => return Ok(Weights::Soft { gamma: self.gamma.unwrap_or(1.0) }),
            Some("auto") => Weights::Auto,
            Some("scores") => Weights::Scores,
            Some("whitened") => Weights::Whitened,
            Some(other) => {
                let fact = format!("`--weights` of the method `pce` cannot be `{other}`");
                return Err(Failure::refused(fact, "use `hard`, `soft`, `auto`, `scores` or `whitened`"));
            }
        };
        match self.gamma {
            None => Ok(weights),
            Some(_) => Err(Failure::refused("`--gamma` says nothing to these weights", "add `--weights soft`")),
        }
    }

    fn given(&self) -> Vec<Given> {
        given([
            ("--as-published", "", self.as_published.then_some(Value::Null)),
            ("--neighbours", "neighbours", self.neighbours.map(|n| json!(n))),
            ("--weights", "weights", self.weights.as_ref().map(|kind| json!(kind))),
            ("--gamma", "gamma", self.gamma.map(|gamma| json!(gamma))),
            ("--unit-features", "unit_features", self.unit_features.then_some(json!(true))),
            ("--metric", "metric", self.metric.as_ref().map(|kind| json!(kind))),
            ("--cost", "cost", self.cost.map(|c| json!(c))),
            ("--bias", "bias", self.bias.map(|b| json!(b))),
            ("--tolerance", "tolerance", self.tolerance.map(|t| json!(t))),
            ("--rounds", "rounds", self.rounds.map(|n| json!(n))),
            ("--seed", "seed", self.seed.map(|n| json!(n))),
            ("--whiten", "whiten", self.whiten.then_some(json!(true))),
        ])
    }

    /// The defaults of the method, or the published settings, with the flags laid over them.
    fn overlaid(&self, flags: impl Iterator<Item = Given>) -> Result<Method, Failure> {
        let base = if self.as_published { Method::as_published(&self.method) } else { Method::named(&self.method) };
        let Some(base) = base else {
            let fact = format!("the paper does not run `{}`: there are no settings to take from it", self.method);
            return Err(Failure::refused(fact, "leave `--as-published` out"));
        };
        let mut settings = serde_json::to_value(&base).expect("settings are plain data");
        for (flag, name, value) in flags.filter(|(_, name, _)| !name.is_empty()) {
            let (name, value) = as_kept(&self.method, name, &value);
            // A method that has more than one way to centre has no flag for it.
            let known = settings.get_mut(name).filter(|known| !(known.is_string() && value.is_boolean()));
            *known.ok_or_else(|| says_nothing(&self.method, flag))? = value;
        }
        serde_json::from_value(settings).map_err(|error| {
            Failure::refused(format!("`{}` does not take this: {error}", self.method), "see `eigenspan fit --help`")
        })
    }
}

fn given<const N: usize>(flags: [(&'static str, &'static str, Option<Value>); N]) -> Vec<Given> {
    flags.into_iter().filter_map(|(flag, name, value)| Some((flag, name, value?))).collect()
}

fn none_of(method: &str, flags: &[Given]) -> Result<(), Failure> {
    flags.first().map_or(Ok(()), |(flag, ..)| Err(says_nothing(method, flag)))
}

fn says_nothing(method: &str, flag: &str) -> Failure {
    Failure::refused(
        format!("`{flag}` says nothing to the method `{method}`"),
        "leave it out, or see `eigenspan fit --help` for the methods that have it",
    )
}
