# The step functions as a static library: one call of the Rust compiler, and nothing is fetched.
# Where the package has unpacked these files the library is among them, and there is nothing to make.

STEPS_CRATE := $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))../crates/flitwork-steps)
RUSTC ?= rustc
# What to link with; the symbols of the library stay inside.
STEPS_LINK := libflitwork_steps.a -Wl,--exclude-libs,libflitwork_steps.a -Wl,--gc-sections

ifneq ($(STEPS_CRATE),)
libflitwork_steps.a: $(shell find $(STEPS_CRATE)/src -name '*.rs') $(STEPS_CRATE)/static-library.args $(STEPS_CRATE)/../../Cargo.toml
	CARGO_PKG_VERSION=$$(sed -n 's/^version = "\(.*\)"/\1/p' $(STEPS_CRATE)/../../Cargo.toml) \
		$(RUSTC) @$(STEPS_CRATE)/static-library.args -o $@ $(STEPS_CRATE)/src/lib.rs
endif
