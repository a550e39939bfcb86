//! Distances between ranks by their digits in some base: the rounds of Bruck's algorithms and of dissemination.
//!
//! In the round of digit `k` a rank exchanges with the ranks at the distances `d * radix^k`, d = 1 .. radix - 1, as far
//! as they are below the number of ranks. All messages of a round are independent, so they are posted together.

use super::world::World;

/// One step of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digit {
    /// Weight of the digit: `radix^k`.
    pub place: u32,
    /// Value of the digit, 1 .. radix - 1.
    pub value: u32,
    /// Whether the step is the last of its round.
    pub ends_round: bool,
}

impl Digit {
    /// Distance to the partner.
    pub fn distance(&self) -> u32 {
        self.place * self.value
    }
}

/// Number of steps.
pub fn steps(world: &World) -> u32 {
    places(world).map(|place| last_value(world, place)).sum()
}

/// The step number `step`.
pub fn digit(world: &World, step: u32) -> Digit {
    // All rounds but the last have a step for each value.
    let (round, value) = (step / (world.radix - 1), step % (world.radix - 1) + 1);
    let place = world.radix.pow(round);
    Digit { place, value, ends_round: value == last_value(world, place) }
}

/// How many of the distances 0 .. ranks - 1 have this digit.
pub fn count(world: &World, digit: Digit) -> u64 {
    let (ranks, place) = (u64::from(world.ranks), u64::from(digit.place));
    let period = place * u64::from(world.radix);
    let rest = (ranks % period).saturating_sub(u64::from(digit.distance())).min(place);
    ranks / period * place + rest
}

/// The weights of the digits below the number of ranks.
fn places(world: &World) -> impl Iterator<Item = u32> {
    let World { ranks, radix, .. } = *world;
    std::iter::successors(Some(1u32), move |place| place.checked_mul(radix)).take_while(move |&place| place < ranks)
}

/// The largest value of a digit for which there is a rank at its distance.
fn last_value(world: &World, place: u32) -> u32 {
    (world.radix - 1).min((world.ranks - 1) / place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distance_is_made_of_the_digits() {
        for ranks in 2..70 {
            for radix in 2..12 {
                let world = World { radix, ..World::of(ranks) };
                let all: Vec<Digit> = (0..steps(&world)).map(|step| digit(&world, step)).collect();
                for digit in &all {
                    let has = |distance: &u32| distance / digit.place % radix == digit.value;
                    assert!(digit.distance() < ranks);
                    assert_eq!(
                        count(&world, *digit),
                        (0..ranks).filter(has).count() as u64,
                        "{ranks} {radix} {digit:?}"
                    );
                }
                let moved: u64 = all.iter().map(|&digit| count(&world, digit) * u64::from(digit.distance())).sum();
                assert_eq!(moved, (0..u64::from(ranks)).sum::<u64>());
            }
        }
    }

    #[test]
    fn a_radix_above_the_number_of_ranks_is_one_round() {
        let world = World { radix: u32::MAX, ..World::of(9) };
        assert_eq!(steps(&world), 8);
        assert_eq!(digit(&world, 7), Digit { place: 1, value: 8, ends_round: true });
    }
}
