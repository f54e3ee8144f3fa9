//! What follows from one line of the list of methods in [`method`](crate::method).
//!
//! The line says a name, the parameters, the task, and what the method is. From it follow the name on the command line, in
//! protocols, in model files and for Python; [`Method`] and [`Model`] with all they can do; `eigenspan methods`; and, by
//! iteration over the list, the tests that every method must pass. What a method is able to do its parameters say
//! ([`Fit`](crate::model::fitted::Fit)): the compiler asks for it. `docs/first-method.md` walks through adding one.

use eigenspan_linalg::Exec;

use crate::Error;
use crate::data::{ImageShape, Labels, Matrix, Samples};
use crate::method::pce::Pce;
pub use crate::method::{METHODS, Method, Model};
use crate::model::fitted::{Classes, Fitted, Labelling, ModelInfo, Needs};
use crate::model::record::{Arrays, Record};
use crate::prepare::Normalize;

/// A name by which a fit can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name.
    pub name: &'static str,
    /// What the method is, in one line.
    pub line: &'static str,
    /// What it is for.
    pub task: Task,
    /// What a fit needs.
    pub needs: Needs,
    /// The method by its own name, where this is the name of special settings.
    pub preset_of: Option<&'static str>,
}

/// What a method is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Few features of many.
    Reducer,
    /// Samples split into parts, and features of one of them.
    Decomposition,
    /// Classes of samples.
    Classifier,
}

/// What a fit of any method gives.
pub type Outcome = crate::model::fitted::Outcome<Model>;

/// What is done with a model whose type is not known to the one who does it.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<R: Record + Fitted>(self, model: &R) -> Self::Output;
}

/// Where a model of any method is read from.
pub trait Reader {
    /// Why it was refused.
    type Error;
    /// Reads a model.
    fn read<R: Record>(self) -> Result<R, Self::Error>;
}

/// Makes all of one list of methods.
macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $variant:ident($params:ty) = $name:literal, $task:ident, $line:literal
        $(, also $preset:literal = $settings:expr, $preset_line:literal)*;
    )*) => {
        $(impl $crate::model::fitted::Settings for $params {
            const METHOD: &'static str = $name;
        })*

        /// Every name by which a fit can be asked for.
        pub const METHODS: &[$crate::registry::MethodInfo] = &[$(
            $crate::registry::MethodInfo {
                name: $name,
                line: $line,
                task: $crate::registry::Task::$task,
                needs: <$params as $crate::model::fitted::Fit>::NEEDS,
                preset_of: None,
            },
            $($crate::registry::MethodInfo {
                name: $preset,
                line: $preset_line,
                task: $crate::registry::Task::$task,
                needs: <$params as $crate::model::fitted::Fit>::NEEDS,
                preset_of: Some($name),
            },)*
        )*];

        /// Parameters of any method.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "method")]
        pub enum Method {
            $($(#[$doc])* #[serde(rename = $name)] $variant($params),)*
        }

        /// A fitted model of any method.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Model {
            $($(#[$doc])* $variant(<$params as $crate::model::fitted::Fit>::Model),)*
        }

        impl Method {
            /// The method of this name with its defaults.
            pub fn named(name: &str) -> Option<Self> {
                Some(match name {
                    $($name => Self::$variant(<$params as $crate::model::fitted::Fit>::named()),
                    $($preset => Self::$variant($settings),)*)*
                    _ => return None,
                })
            }

            /// The method of this name as the paper ran it, where it did.
            pub fn as_published(name: &str) -> Option<Self> {
                match name {
                    $($name => <$params as $crate::model::fitted::Fit>::published().map(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name, whatever its settings.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$params as $crate::model::fitted::Settings>::METHOD,)*
                }
            }

            /// The same with at most so many features.
            #[must_use]
            pub fn capped(mut self, max: usize) -> Self {
                match &mut self {
                    $(Self::$variant(params) => $crate::model::fitted::Fit::cap(params, max),)*
                }
                self
            }

            pub(crate) fn learn(
                &self,
                samples: $crate::data::Samples<'_>,
                labels: Option<&$crate::data::Labels>,
                exec: $crate::Exec<'_>,
            ) -> Result<$crate::registry::Outcome, $crate::Error> {
                use $crate::model::fitted::Fit as _;
                match self {
                    $(Self::$variant(params) => Ok(params.learn(samples, labels, exec)?.map(Model::$variant)),)*
                }
            }
        }

        impl Model {
            /// The parameters of the fit.
            pub fn settings(&self) -> Method {
                match self {
                    $(Self::$variant(model) => Method::$variant($crate::model::record::Record::params(model).clone()),)*
                }
            }

            /// Shows the model to one who does not know its type.
            pub fn visit<V: $crate::registry::Visitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(Self::$variant(model) => visitor.visit(model),)*
                }
            }

            /// A model of the method of this name; `None` where there is no such method.
            pub fn read<R: $crate::registry::Reader>(method: &str, from: R) -> Option<Result<Self, R::Error>> {
                match method {
                    $($name => Some(from.read().map(Self::$variant)),)*
                    _ => None,
                }
            }

            pub(crate) fn inside(&self) -> &dyn $crate::model::fitted::Fitted {
                match self {
                    $(Self::$variant(model) => model,)*
                }
            }

            pub(crate) fn inside_mut(&mut self) -> &mut dyn $crate::model::fitted::Fitted {
                match self {
                    $(Self::$variant(model) => model,)*
                }
            }
        }
    };
}
pub(crate) use methods;

impl MethodInfo {
    /// What is known by this name.
    pub fn of(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }
}

impl Method {
    /// What is known of the method.
    pub fn info(&self) -> &'static MethodInfo {
        MethodInfo::of(self.name()).expect("every method is in the list")
    }

    /// Learns from samples in rows. Classifiers need their labels, PCE with weights to be chosen looks at them where there are
    /// some, the others do not.
    pub fn fit_with(&self, samples: Samples<'_>, labels: Option<&Labels>, exec: Exec<'_>) -> Result<Outcome, Error> {
        match (self.info().needs.labels, labels) {
            (Labelling::Required, None) => Err(Error::NoLabels),
            (Labelling::Unused, _) => self.learn(samples, None, exec),
            _ => self.learn(samples, labels, exec),
        }
    }
}

impl Model {
    /// The arrays that were learned, by name.
    pub fn arrays(&self) -> Arrays {
        struct OfArrays;
        impl Visitor for OfArrays {
            type Output = Arrays;
            fn visit<R: Record + Fitted>(self, model: &R) -> Arrays {
                model.take_apart().1
            }
        }
        self.visit(OfArrays)
    }

    /// The features of each sample, on all cores.
    pub fn transform<'a>(&self, samples: impl Into<Samples<'a>>) -> Result<Matrix, Error> {
        self.transform_with(samples.into(), Exec::default())
    }

    /// The same model with the shape of its samples as images; `None` where that is not their size.
    pub fn with_image(mut self, shape: ImageShape) -> Option<Self> {
        if shape.height.checked_mul(shape.width) != Some(self.features()) {
            return None;
        }
        self.set_image(shape);
        Some(self)
    }
}

impl Fitted for Model {
    fn info(&self) -> ModelInfo<'_> {
        self.inside().info()
    }

    fn features(&self) -> usize {
        self.inside().features()
    }

    fn columns(&self) -> usize {
        self.inside().columns()
    }

    fn scaling(&self) -> Normalize {
        self.inside().scaling()
    }

    fn unit_features(&self) -> bool {
        self.inside().unit_features()
    }

    fn set_image(&mut self, shape: ImageShape) {
        self.inside_mut().set_image(shape);
    }

    fn transform_with(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Matrix, Error> {
        self.inside().transform_with(samples, exec)
    }

    fn as_pce(&self) -> Option<&Pce> {
        self.inside().as_pce()
    }

    fn class_names(&self) -> Option<&[String]> {
        self.inside().class_names()
    }

    fn classify(&self, samples: Samples<'_>, exec: Exec<'_>) -> Result<Classes, Error> {
        self.inside().classify(samples, exec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_once_and_says_what_it_is() {
        for (i, method) in METHODS.iter().enumerate() {
            assert_eq!(METHODS.iter().position(|other| other.name == method.name), Some(i), "{}", method.name);
            let named = Method::named(method.name).unwrap();
            assert_eq!(named.name(), method.preset_of.unwrap_or(method.name));
            assert!(!method.line.is_empty());
        }
        assert_eq!(Method::named("tsne"), None);
    }
}
