//! `eigenspan export`: a model for other runtimes.

use eigenspan_core::data::NumberType;
use eigenspan_io::ModelFile;
use eigenspan_io::onnx::to_onnx;

use super::{pce_of, print, print_bytes};
use crate::args::{Export, NumbersArg};
use crate::failure::Failure;

/// Writes a model as an ONNX graph.
pub fn run(args: &Export) -> Result<(), Failure> {
    let model = pce_of(ModelFile::load(&args.model)?.model, "export")?;
    let numbers = match args.numbers {
        Some(NumbersArg::F64) => NumberType::F64,
        Some(NumbersArg::F32) => NumberType::F32,
        Some(NumbersArg::U8) => NumberType::U8,
        None => model.parts().number_type,
    };
    let graph = to_onnx(&model, numbers);
    if args.output.as_os_str() == "-" {
        return print_bytes(&graph);
    }
    eigenspan_io::write_atomically(&args.output, |out| out.write_all(&graph))?;
    print(&format!("wrote {}\n", args.output.display()))
}
