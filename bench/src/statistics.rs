//! Repeats and what they tell.

/// The middle one; of an even number, the mean of the middle two. NaN of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// How far from each other the middle half of the repeats are, halved: the `±` of a table. NaN of none.
pub fn half_of_middle_half(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = sorted.split_at(sorted.len() / 2);
    let high = &high[sorted.len() % 2..];
    if sorted.len() == 1 { 0.0 } else { (median(high) - median(low)) / 2.0 }
}

/// Whether the repeats of one lie among those of the other, so that which is larger may be chance.
pub fn overlap(one: &[f64], other: &[f64]) -> bool {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    least(one) <= most(other) && least(other) <= most(one)
}

/// The geometric mean: of ratios, the one that treats gains and losses alike.
pub fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(half_of_middle_half(&[5.0, 1.0, 2.0, 3.0, 4.0]), 1.5);
        assert_eq!(half_of_middle_half(&[2.0]), 0.0);
        assert!((geometric_mean(&[2.0, 0.5]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn repeats_that_overlap() {
        assert!(overlap(&[1.0, 3.0], &[2.0, 4.0]));
        assert!(overlap(&[1.0, 4.0], &[2.0, 3.0]));
        assert!(!overlap(&[1.0, 2.0], &[2.5, 4.0]));
    }
}
