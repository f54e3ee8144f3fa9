//! Every way of having the samples answers or refuses by name.
