//! Keywords of a Python class as [`PceParams`]. What cannot be meant is refused by the name of the keyword.

use eigenspan::data::NumberType;
use eigenspan::method::pca::{Components, PcaParams};
use eigenspan::{Dim, Lambda, Normalize, PceParams, RankRule, Solver, Weights};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

/// What the keywords ask for: those of `PCE`, by their names.
pub fn params(keywords: &Bound<'_, PyDict>) -> PyResult<PceParams> {
    let keyword = |name: &'static str| -> PyResult<Keyword<'_>> {
        let value = keywords.get_item(name)?;
        let value = value.ok_or_else(|| PyTypeError::new_err(format!("the keyword `{name}` is missing")))?;
        Ok(Keyword { name, value })
    };
    let (lambda, dim) = (keyword("lam")?.lambda()?, keyword("dim")?.dim()?);
    let lambda = match (keyword("noise")?.noise()?, dim) {
        (Some(_), _) if lambda != Lambda::Auto => return Err(both("lam", "noise")),
        (Some(_), Asked::Share(_)) => return Err(both("dim", "noise")),
        (_, Asked::Share(_)) if lambda != Lambda::Auto => return Err(both("lam", "dim")),
        (Some(noise), _) => Lambda::Noise(noise),
        (None, Asked::Share(share)) => Lambda::Energy(share),
        (None, _) => lambda,
    };
    let dim = if let Asked::Count(count) = dim { Dim::Fixed(count) } else { Dim::Auto };
    let normalize = [("unit", Normalize::Unit), ("none", Normalize::None), ("zscore", Normalize::ZScore)];
    let weights = [
        ("hard", Weights::Hard),
        ("soft", Weights::Soft { gamma: 1.0 }),
        ("auto", Weights::Auto),
        ("scores", Weights::Scores),
        ("whitened", Weights::Whitened),
    ];
    let weights = match (keyword("weights")?.one_of(&weights)?, keyword("gamma")?.gamma()?) {
        (weights, None) => weights,
        (Weights::Soft { .. }, Some(gamma)) => Weights::Soft { gamma },
        (_, Some(_)) => return Err(PyValueError::new_err("`gamma` says nothing unless `weights` is 'soft'")),
    };
    let rules = [("theorem", RankRule::Theorem), ("released", RankRule::Released)];
    let solvers = [("auto", Solver::Auto), ("direct", Solver::Direct)];
    Ok(PceParams {
        lambda,
        dim,
        rank_rule: keyword("rank_rule")?.one_of(&rules)?,
        normalize: keyword("normalize")?.one_of(&normalize)?,
        center: keyword("center")?.truth()?,
        weights,
        strict: false,
        solver: keyword("solver")?.one_of(&solvers)?,
        unit_features: keyword("unit_features")?.truth()?,
    })
}

/// PCA with as many components as have the largest evidence, where that is what `dim` asks for.
pub fn minka_rank(keywords: &Bound<'_, PyDict>) -> PyResult<Option<PcaParams>> {
    let word = |name: &str| Ok::<_, PyErr>(keywords.get_item(name)?.and_then(|word| word.extract::<String>().ok()));
    if word("dim")?.as_deref() != Some("mle") {
        return Ok(None);
    }
    let whiten = word("weights")?.as_deref() == Some("whitened");
    Ok(Some(PcaParams { components: Components::Mle, whiten, ..PcaParams::default() }))
}

fn both(one: &str, other: &str) -> PyErr {
    PyValueError::new_err(format!("`{one}` and `{other}` both say where to cut: give one of them"))
}

/// The numbers of that NumPy name.
pub fn number_type(name: &str) -> PyResult<NumberType> {
    match name {
        "float64" => Ok(NumberType::F64),
        "float32" => Ok(NumberType::F32),
        "uint8" => Ok(NumberType::U8),
        _ => Err(PyValueError::new_err(format!("`dtype` must be float64, float32 or uint8, got {name}"))),
    }
}

/// The NumPy name of numbers.
pub fn number_name(numbers: NumberType) -> &'static str {
    match numbers {
        NumberType::F64 => "float64",
        NumberType::F32 => "float32",
        NumberType::U8 => "uint8",
    }
}

/// What `dim` asks for.
#[derive(Clone, Copy)]
enum Asked {
    Auto,
    Count(usize),
    Share(f64),
}

struct Keyword<'py> {
    name: &'static str,
    value: Bound<'py, PyAny>,
}

impl Keyword<'_> {
    /// The value is of no type that will do.
    fn wrong_type(&self, expected: &str) -> PyErr {
        let got = self.value.get_type().name().map_or_else(|_| "something else".into(), |name| name.to_string());
        PyTypeError::new_err(format!("`{}` must be {expected}, got {got}", self.name))
    }

    /// The value is of the right type, but none that will do.
    fn wrong_value(&self, expected: &str) -> PyErr {
        let got = self.value.repr().map_or_else(|_| "something else".into(), |repr| repr.to_string());
        PyValueError::new_err(format!("`{}` must be {expected}, got {got}", self.name))
    }

    fn text(&self) -> Option<String> {
        self.value.cast::<PyString>().ok().map(|text| text.to_string())
    }

    /// A number that is no truth value.
    fn number(&self) -> Option<f64> {
        if self.value.is_instance_of::<PyBool>() { None } else { self.value.extract().ok() }
    }

    fn lambda(&self) -> PyResult<Lambda> {
        let names: Vec<String> = Lambda::names().map(|name| format!("'{name}'")).collect();
        let expected = format!("{} or a positive number", names.join(", "));
        match (self.text(), self.number()) {
            (Some(name), _) => Lambda::named(&name).ok_or_else(|| self.wrong_value(&expected)),
            (None, Some(lambda)) if lambda > 0.0 && lambda.is_finite() => Ok(Lambda::Fixed(lambda)),
            (None, Some(_)) => Err(self.wrong_value(&expected)),
            (None, None) => Err(self.wrong_type(&expected)),
        }
    }

    fn dim(&self) -> PyResult<Asked> {
        let expected = "'auto', a number of dimensions from 1 on, or a share of the energy between 0 and 1";
        if let Some(text) = self.text() {
            return if text == "auto" { Ok(Asked::Auto) } else { Err(self.wrong_value(expected)) };
        }
        let Some(number) = self.number() else { return Err(self.wrong_type(expected)) };
        if let Ok(count) = self.value.extract::<i64>() {
            let count = usize::try_from(count).ok().filter(|count| *count > 0);
            return count.map(Asked::Count).ok_or_else(|| self.wrong_value(expected));
        }
        if number > 0.0 && number < 1.0 { Ok(Asked::Share(number)) } else { Err(self.wrong_value(expected)) }
    }

    fn noise(&self) -> PyResult<Option<f64>> {
        let expected = "None or a standard deviation of 0 or more";
        if self.value.is_none() {
            return Ok(None);
        }
        let Some(noise) = self.number() else { return Err(self.wrong_type(expected)) };
        if noise >= 0.0 && noise.is_finite() { Ok(Some(noise)) } else { Err(self.wrong_value(expected)) }
    }

    fn gamma(&self) -> PyResult<Option<f64>> {
        let expected = "None or a number from 0 (PCA) to 1 (whitening)";
        if self.value.is_none() {
            return Ok(None);
        }
        let Some(gamma) = self.number() else { return Err(self.wrong_type(expected)) };
        if (0.0..=1.0).contains(&gamma) { Ok(Some(gamma)) } else { Err(self.wrong_value(expected)) }
    }

    fn truth(&self) -> PyResult<bool> {
        // NumPy's truth values are no Python ones.
        self.value.extract().map_err(|_| self.wrong_type("True or False"))
    }

    fn one_of<T: Copy>(&self, names: &[(&str, T)]) -> PyResult<T> {
        let listed: Vec<String> = names.iter().map(|(name, _)| format!("'{name}'")).collect();
        let expected = listed.join(" or ");
        let Some(text) = self.text() else { return Err(self.wrong_type(&expected)) };
        let found = names.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(|| self.wrong_value(&expected))
    }
}

/// The keywords of `PCE` that ask for `params`.
pub fn keywords<'py>(py: Python<'py>, params: &PceParams) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    let word = |name: &str, value: &dyn std::fmt::Debug| keywords.set_item(name, format!("{value:?}").to_lowercase());
    keywords.set_item("lam", "auto")?;
    keywords.set_item("dim", "auto")?;
    keywords.set_item("noise", py.None())?;
    match params.lambda {
        Lambda::Fixed(lambda) => keywords.set_item("lam", lambda)?,
        Lambda::Noise(noise) => keywords.set_item("noise", noise)?,
        Lambda::Energy(share) => keywords.set_item("dim", share)?,
        named => keywords.set_item("lam", named.rule().name())?,
    }
    if let Dim::Fixed(count) = params.dim {
        keywords.set_item("dim", count)?;
    }
    word("normalize", &params.normalize)?;
    keywords.set_item("gamma", py.None())?;
    match params.weights {
        Weights::Soft { gamma } => {
            keywords.set_item("weights", "soft")?;
            if gamma != 1.0 {
                keywords.set_item("gamma", gamma)?;
            }
        }
        other => word("weights", &other)?,
    }
    keywords.set_item("unit_features", params.unit_features)?;
    word("rank_rule", &params.rank_rule)?;
    word("solver", &params.solver)?;
    keywords.set_item("center", params.center)?;
    Ok(keywords)
}
