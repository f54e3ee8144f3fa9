//! Models as ONNX graphs: any runtime then maps samples to features, without this library.
//!
//! ```text
//!     x ─▶ x / ‖x‖ ─▶ − mean ─▶ / deviation ─▶ · basis ─▶ / divisor ─▶ z / ‖z‖ ─▶ z
//! ```
//! Steps that a model does not have are left out. A sample of length zero is left at zero. Arithmetic is in the numbers
//! of the input; bytes are turned into `f64` first.
//!
//! The messages below are those of `onnx.proto`, as far as they are used; the numbers are its field numbers.

use eigenspan_core::data::NumberType;
use eigenspan_core::{Normalize, Pce};
use prost::Message;

/// The version of the operators: since this one, `ReduceL2` takes its axes as an input.
const OPERATORS: i64 = 18;
/// The version of the format that goes with it.
const FORMAT: i64 = 8;

/// The graph of a model that takes samples `x` (n × m) of these numbers and gives features `z` (n × columns).
pub fn to_onnx(model: &Pce, numbers: NumberType) -> Vec<u8> {
    let (parts, m) = (model.parts(), model.features());
    let element = if numbers == NumberType::F32 { Element::Float } else { Element::Double };
    let mut graph = Builder { nodes: vec![], constants: vec![], element, last: "x".into() };
    if numbers == NumberType::U8 {
        graph.step("Cast", &[], vec![Attribute::integer("to", element as i64)]);
    }
    if parts.preparation.normalize == Normalize::Unit {
        graph.scale_to_unit_length();
    }
    if let Some(mean) = &parts.preparation.mean {
        let mean = graph.constant("mean", &[m], mean);
        graph.step("Sub", &[&mean], vec![]);
    }
    if let Some(deviation) = &parts.preparation.deviation {
        let deviation = graph.constant("deviation", &[m], deviation);
        graph.step("Div", &[&deviation], vec![]);
    }
    let basis = graph.constant("basis", &[m, model.columns()], parts.basis.as_slice());
    graph.step("MatMul", &[&basis], vec![]);
    let divisors = graph.constant("divisors", &[model.columns()], &model.divisors());
    graph.step("Div", &[&divisors], vec![]);
    if parts.params.unit_features {
        graph.scale_to_unit_length();
    }
    graph.nodes.last_mut().expect("there are steps").output = vec!["z".into()];
    let input = if numbers == NumberType::U8 { Element::Bytes } else { element };
    let graph = Graph {
        node: graph.nodes,
        name: "eigenspan".into(),
        initializer: graph.constants,
        input: vec![ValueInfo::rows("x", input, m)],
        output: vec![ValueInfo::rows("z", element, model.columns())],
    };
    let why = Entry { key: "why".into(), value: model.why().into() };
    let model = Model {
        ir_version: FORMAT,
        producer_name: "eigenspan".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        graph: Some(graph),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPERATORS }],
        metadata_props: vec![why],
    };
    model.encode_to_vec()
}

/// A graph in which each step takes what the last one gave.
struct Builder {
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
    element: Element,
    last: String,
}

impl Builder {
    fn step(&mut self, operator: &str, others: &[&str], attribute: Vec<Attribute>) {
        let input = std::iter::once(self.last.clone()).chain(others.iter().map(ToString::to_string)).collect();
        self.last = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        self.nodes.push(Node { input, output: vec![self.last.clone()], op_type: operator.into(), attribute });
    }

    /// x / ‖x‖, and a sample of length zero divided by one.
    fn scale_to_unit_length(&mut self) {
        let samples = self.last.clone();
        // Samples and features may both be scaled: the numbers for it are there once.
        let [axes, zero, one] = ["axes", "zero", "one"];
        if !self.constants.iter().any(|constant| constant.name == axes) {
            self.constants.push(Tensor {
                dims: vec![1],
                data_type: Element::Integer as i32,
                name: axes.into(),
                raw_data: 1_i64.to_le_bytes().to_vec(),
            });
            self.constant(zero, &[], &[0.0]);
            self.constant(one, &[], &[1.0]);
        }
        self.step("ReduceL2", &[axes], vec![Attribute::integer("keepdims", 1)]);
        let lengths = self.last.clone();
        self.step("Equal", &[zero], vec![]);
        self.step("Where", &[one, &lengths], vec![]);
        let divisors = std::mem::replace(&mut self.last, samples);
        self.step("Div", &[&divisors], vec![]);
    }

    /// Numbers that belong to the model.
    fn constant(&mut self, name: &str, shape: &[usize], values: &[f64]) -> String {
        let raw_data = match self.element {
            Element::Float => values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect(),
            _ => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        };
        let dims = shape.iter().map(|d| *d as i64).collect();
        self.constants.push(Tensor { dims, data_type: self.element as i32, name: name.into(), raw_data });
        name.into()
    }
}

/// What a tensor holds.
#[derive(Clone, Copy)]
enum Element {
    Float = 1,
    Bytes = 2,
    Integer = 7,
    Double = 11,
}

#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(string, tag = "2")]
    producer_name: String,
    #[prost(string, tag = "3")]
    producer_version: String,
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    metadata_props: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
struct OperatorSet {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(int64, tag = "2")]
    version: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    node: Vec<Node>,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "3")]
    i: i64,
    #[prost(int32, tag = "20")]
    kind: i32,
}

impl Attribute {
    fn integer(name: &str, i: i64) -> Self {
        const INTEGER: i32 = 2;
        Self { name: name.into(), i, kind: INTEGER }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueInfo {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    kind: Option<Type>,
}

impl ValueInfo {
    /// Any number of rows of `cols` values.
    fn rows(name: &str, element: Element, cols: usize) -> Self {
        let any = Dimension { size: None, symbol: Some("n".into()) };
        let shape = Shape { dim: vec![any, Dimension { size: Some(cols as i64), symbol: None }] };
        let tensor = TensorType { element: element as i32, shape: Some(shape) };
        Self { name: name.into(), kind: Some(Type { tensor: Some(tensor) }) }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Type {
    #[prost(message, optional, tag = "1")]
    tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorType {
    #[prost(int32, tag = "1")]
    element: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "1")]
    dim: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
struct Dimension {
    #[prost(int64, optional, tag = "1")]
    size: Option<i64>,
    #[prost(string, optional, tag = "2")]
    symbol: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_core::data::generate::Subspaces;
    use eigenspan_core::{PcaParams, PceParams};

    /// What the graph computes is checked with a runtime in `tests/python`.
    #[test]
    fn a_graph_has_the_steps_of_its_model() {
        let data = Subspaces { samples: 40, features: 9, subspaces: 1, dim: 3, noise: 0.1 }.generate(1).unwrap();
        let steps = |model: &Pce, numbers| {
            let graph = Model::decode(&to_onnx(model, numbers)[..]).unwrap().graph.unwrap();
            graph.node.iter().map(|node| node.op_type.clone()).collect::<Vec<_>>().join(" ")
        };
        let pce = PceParams::default().fit(&data.samples).unwrap();
        assert_eq!(steps(&pce, NumberType::F64), "ReduceL2 Equal Where Div MatMul Div");
        assert_eq!(steps(&pce, NumberType::U8), "Cast ReduceL2 Equal Where Div MatMul Div");
        let pca = PcaParams::default().fit(&data.samples).unwrap();
        assert_eq!(steps(&pca, NumberType::F32), "Sub MatMul Div");
        let scores = PceParams { normalize: Normalize::ZScore, ..PceParams::default() }.fit(&data.samples).unwrap();
        assert_eq!(steps(&scores, NumberType::F64), "Sub Div MatMul Div");
        let auto = PceParams::auto().fit(&data.samples).unwrap();
        let scaled = "ReduceL2 Equal Where Div";
        assert_eq!(steps(&auto, NumberType::F64), format!("{scaled} MatMul Div {scaled}"));
        let graph = Model::decode(&to_onnx(&auto, NumberType::F64)[..]).unwrap().graph.unwrap();
        let names: std::collections::BTreeSet<&str> = graph.initializer.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names.len(), graph.initializer.len(), "a name stands for one constant");
    }
}
