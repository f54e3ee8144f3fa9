//! From a spectrum to a cut: one rule, one file, and one line in the registry below.
//!
//! A rule sees the [`Spectrum`] trait and nothing else. A new one is a file here that implements [`Rule`], and a line
//! of `rules!`: its name, its serde form, its place in [`Lambda`] and its dispatch follow.

pub mod cut;
pub mod dimension;
pub mod minka;
mod noise_cut;
pub mod threshold;

use std::str::FromStr;

use eigenspan_linalg::Exec;

use crate::Error;
use crate::spectrum::{NoiseKind, Spectrum};
pub use cut::{Count, Cut, Decision};

/// One way to choose the cut.
pub trait Rule {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Refuses values that make no sense.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// What it needs to know of the samples.
    fn needs(&self) -> Needs;

    /// Whether the user gave the cut, so that nothing else may move it.
    fn is_given(&self) -> bool {
        false
    }

    /// The cut, and the values found on the way to it.
    fn cut<'a>(&self, spectrum: &'a dyn Spectrum, exec: Exec<'_>) -> Result<Decision<'a>, Error>;
}

/// What a rule needs to know of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// The noise that it looks for, if any: then the samples are seen as they were before scaling.
    pub noise: Option<NoiseKind>,
    /// How far down it needs singular values.
    pub depth: Depth,
}

/// How far down singular values are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Those above the cut.
    Leading,
    /// Those that are noise too.
    Bulk,
    /// All that stand above rounding.
    Rounding,
}

impl Needs {
    /// The values above the cut alone.
    pub const LEADING: Self = Self { noise: None, depth: Depth::Leading };

    /// The whole spectrum as this noise sees it.
    pub const fn bulk(noise: NoiseKind) -> Self {
        Self { noise: Some(noise), depth: Depth::Bulk }
    }
}

/// Makes [`Lambda`] and all that follows from a list of rules: `file::Type(value) = "what it is"`. A rule without a
/// value is known by its name alone.
macro_rules! rules {
    ($($(#[$attribute:meta])? $module:ident::$Rule:ident $(($value:ident))? = $doc:literal,)*) => {
        $(pub mod $module;)*

        /// How λ is chosen.
        #[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[serde(into = "serde_json::Value", try_from = "serde_json::Value")]
        pub enum Lambda {
            $(#[doc = $doc] $(#[$attribute])? $Rule $((rules!(@number $value)))?,)*
        }

        impl Lambda {
            /// Every rule: its name, what it is, and itself where it takes no value.
            pub const ALL: &[(&str, &str, Option<Self>)] =
                &[$((stringify!($module), $doc, rules!(@alone $Rule $($value)?)),)*];

            /// Its value, where it takes one.
            pub fn value(&self) -> Option<f64> {
                match *self {
                    $(Self::$Rule $(($value))? => rules!(@value $($value)?),)*
                }
            }

            /// The rule of that name with this value, where it takes one.
            pub fn with_value(name: &str, value: f64) -> Option<Self> {
                $(if name == stringify!($module) {
                    return rules!(@with $Rule value $($value)?);
                })*
                None
            }

            /// The rule.
            pub fn rule(&self) -> Box<dyn Rule> {
                match *self {
                    $(Self::$Rule $(($value))? => Box::new($module::$Rule $(($value))?),)*
                }
            }
        }
    };
    (@number $value:ident) => { f64 };
    (@value) => { None };
    (@value $value:ident) => { Some($value) };
    (@with $Rule:ident $given:ident) => {{ let _ = $given; None }};
    (@with $Rule:ident $given:ident $value:ident) => { Some(Self::$Rule($given)) };
    (@alone $Rule:ident) => { Some(Self::$Rule) };
    (@alone $Rule:ident $value:ident) => { None };
}

rules! {
    #[default]
    auto::Auto = "Optimal hard threshold for white noise of unknown strength (Gavish, Donoho 2014). Nothing to choose.",
    fixed::Fixed(lambda) = "This λ.",
    noise::Noise(deviation) = "Optimal hard threshold for white noise of this standard deviation, in the units of the data.",
    screenot::ScreeNot = "Optimal hard threshold for noise of any shape, from the bulk of the spectrum (ScreeNot).",
    energy::Energy(share) = "As many directions as carry this share of the energy Σσ².",
}

impl Lambda {
    /// Refuses values that make no sense.
    pub fn check(&self) -> Result<(), Error> {
        self.rule().check()
    }

    /// The names of the rules that take no value.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().filter(|(.., rule)| rule.is_some()).map(|(name, ..)| *name)
    }

    /// What a setting of λ may be, for messages.
    pub(crate) fn expected() -> String {
        let quoted = |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
        let alone = quoted(Self::names().collect());
        let valued = Self::ALL.iter().filter(|(name, _, rule)| rule.is_none() && *name != "fixed");
        let valued = quoted(valued.map(|(name, ..)| *name).collect());
        format!("expected a number, {}, or a {} with its number", alone.join(", "), valued.join(" or "))
    }

    /// The rule of that name, where it takes no value.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, ..)| *known == name).and_then(|(.., rule)| *rule)
    }
}

impl FromStr for Lambda {
    type Err = String;

    /// A number is λ itself, a word the name of a rule.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text)
            .or_else(|| text.parse().ok().filter(|lambda: &f64| lambda.is_finite()).map(Self::Fixed))
            .ok_or_else(|| {
                let names: Vec<String> = Self::names().map(|name| format!("`{name}`")).collect();
                let (last, first) = names.split_last().expect("there are rules");
                format!("expected a number, {} or {last}", first.join(", "))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_one_name() {
        for (name, _, alone) in Lambda::ALL {
            let Some(lambda) = alone else { continue };
            assert_eq!(lambda.rule().name(), *name);
            assert_eq!(name.parse(), Ok(*lambda));
            assert_eq!(serde_json::to_value(lambda).unwrap(), *name, "the form in a model file");
        }
        assert_eq!("5".parse(), Ok(Lambda::Fixed(5.0)));
        let expected = "often".parse::<Lambda>().unwrap_err();
        assert!(Lambda::names().all(|name| expected.contains(&format!("`{name}`"))), "{expected}");
        assert_eq!("noise".parse::<Lambda>(), Err(expected), "it takes a value");
    }
}
