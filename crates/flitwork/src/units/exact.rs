//! Exact numbers: fractions of whole numbers, never rounded. What would overflow is no number.

use num_rational::Ratio;
use num_traits::{CheckedDiv, CheckedMul, ToPrimitive, Zero};

/// A fraction of whole numbers.
pub type Exact = Ratio<i128>;

/// Most digits of a number, and largest power of ten.
const MOST_DIGITS: usize = 30;
const MOST_POWER: i32 = 24;

/// A number as it is written: `19.5`, `1e9`. `None` for what is none, or has too many digits.
pub(super) fn decimal(text: &str) -> Option<Exact> {
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.trim_start_matches('+').parse().ok()?),
        None => (text, 0i32),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{before}{after}");
    let is_number = !all.is_empty() && all.len() <= MOST_DIGITS && all.bytes().all(|byte| byte.is_ascii_digit());
    let power = power.checked_sub(after.len() as i32)?;
    if !is_number || power.abs() > MOST_POWER {
        return None;
    }
    let whole: i128 = all.parse().ok()?;
    let ten = 10i128.pow(power.unsigned_abs());
    let value = if power < 0 { Exact::new(whole, ten) } else { Exact::from_integer(whole.checked_mul(ten)?) };
    Some(if negative { -value } else { value })
}

/// `a` times `b`; `None` where that is too large or too fine.
pub(crate) fn multiplied(a: Exact, b: Exact) -> Option<Exact> {
    a.checked_mul(&b)
}

/// `a` over `b`; `None` where that is too large or too fine, or `b` is 0.
pub(crate) fn divided(a: Exact, b: Exact) -> Option<Exact> {
    if b.is_zero() { None } else { a.checked_div(&b) }
}

/// The whole number that it is.
pub(crate) fn whole(value: Exact) -> Option<u64> {
    if value.is_integer() { value.to_integer().to_u64() } else { None }
}

/// The multiples of `step` below and above a number, as many steps as they are.
pub(crate) fn nearest(value: Exact, step: Exact) -> Option<[(i128, Exact); 2]> {
    let steps = divided(value, step)?.floor().to_integer();
    let at = |steps: i128| Some((steps, multiplied(Exact::from_integer(steps), step)?));
    Some([at(steps.max(0))?, at(steps.checked_add(1)?.max(1))?])
}

/// As people read it: a decimal where it is one of few digits, else a fraction.
pub(crate) fn shown(value: Exact) -> String {
    if value.is_integer() {
        return value.to_integer().to_string();
    }
    let thousandths = [3, 6, 9, 12].into_iter().find_map(|digits| {
        let scaled = multiplied(value, Exact::from_integer(10i128.pow(digits)))?;
        scaled.is_integer().then_some((scaled.to_integer(), digits as usize))
    });
    let Some((scaled, digits)) = thousandths else { return value.to_string() };
    let ten = 10i128.pow(digits as u32);
    let sign = if scaled < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:0digits$}", (scaled / ten).abs(), (scaled % ten).abs());
    text.trim_end_matches('0').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_is_written() {
        let read = |text| decimal(text).map(shown);
        assert_eq!(read("19.5").as_deref(), Some("19.5"));
        assert_eq!(read("1e9").as_deref(), Some("1000000000"));
        assert_eq!(read("-0.25e+1").as_deref(), Some("-2.5"));
        assert_eq!(read("0.1").as_deref(), Some("0.1"));
        for text in ["", ".", "-", "1.2.3", "x", "1e400", "1e99999999999", "1 2", "--1", "0x10", "inf", "nan"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_tenth_three_times_is_three_tenths() {
        let tenth = decimal("0.1").unwrap();
        assert_eq!(tenth + tenth + tenth, decimal("0.3").unwrap());
        assert_eq!(shown(divided(Exact::from_integer(16), Exact::from_integer(3)).unwrap()), "16/3");
        assert_eq!(divided(tenth, Exact::zero()), None);
        assert_eq!(multiplied(Exact::from_integer(i128::MAX), Exact::from_integer(2)), None);
    }

    #[test]
    fn neighbours_are_multiples() {
        let [below, above] = nearest(Exact::from_integer(79), Exact::from_integer(4)).unwrap();
        assert_eq!((below, above), ((19, Exact::from_integer(76)), (20, Exact::from_integer(80))));
        let [below, above] = nearest(Exact::from_integer(-3), Exact::from_integer(4)).unwrap();
        assert_eq!((below.0, above.0), (0, 1));
    }
}
