//! The permutations of address bits: one line each.
//!
//! They act on the binary address of a terminal, which in two dimensions is the bits of y followed by those of x, and
//! are defined for powers of two. The formulas are those of Dally and Towles 2004, section 3.2; `shuffle` rotates left
//! and `bit_rotation` right, so the two are each other's inverse.

use super::Destinations;
use super::rule::{Context, Rule};
use crate::error::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows: what it does, struct, and the destination of an address of so many bits, of which the lowest count.
macro_rules! bit_permutations {
    ($(#[doc = $about:literal] $Kind:ident: |$address:ident, $bits:pat_param| $to:expr;)*) => {
        $(
            #[doc = $about]
            #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $Kind {}

            impl Rule for $Kind {
                fn lacks(&self, on: &Context<'_>) -> Option<String> {
                    let n = on.terminals();
                    (!n.is_power_of_two() || n == 1).then(|| format!("a power of two of terminals, not {n}"))
                }

                fn destinations(&self, on: &Context<'_>) -> Result<Destinations> {
                    let n = on.terminals();
                    let to = |$address: u32, $bits: u32| $to;
                    Ok(Destinations::Fixed((0..n).map(|i| to(i, n.trailing_zeros()) & (n - 1)).collect()))
                }

                fn is_permutation(&self) -> bool {
                    true
                }
            }
        )*
    };
}

bit_permutations! {
    /// The address rotated left by one bit (2^n terminals).
    Shuffle: |i, bits| i << 1 | i >> (bits - 1);
    /// The address with every bit inverted (2^n terminals).
    BitComplement: |i, _| !i;
    /// The address read backwards (2^n terminals).
    BitReverse: |i, bits| i.reverse_bits() >> (32 - bits);
    /// The address rotated right by one bit (2^n terminals).
    BitRotation: |i, bits| i >> 1 | i << (bits - 1);
}
