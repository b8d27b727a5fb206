//! Bytes from which something was generated, made fewer and smaller as long as it still fails.

/// Leaves out and zeroes what is not needed for `fails`, which holds of the bytes given. Asks at most so many times.
pub fn shrink(mut bytes: Vec<u8>, mut questions: usize, fails: &mut dyn FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut size = bytes.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let end = bytes.len().min(at + size);
            let mut without = bytes.clone();
            without.drain(at..end);
            let mut zeroed = bytes.clone();
            zeroed[at..end].fill(0);
            let mut better = |candidate: &Vec<u8>| {
                let asked = *candidate != bytes && questions > 0;
                questions -= usize::from(asked);
                asked && fails(candidate)
            };
            if better(&without) {
                bytes = without;
            } else {
                if better(&zeroed) {
                    bytes = zeroed;
                }
                at = end;
            }
        }
        size /= 2;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn only_what_is_needed_is_left() {
        let bytes: Vec<u8> = (1..=200).collect();
        let needed = |bytes: &[u8]| bytes.contains(&7) && bytes.contains(&150);
        assert_eq!(shrink(bytes, 10_000, &mut |bytes| needed(bytes)), [7, 150]);
    }

    #[test]
    fn what_matters_by_its_place_is_zeroed_around() {
        let bytes = vec![9; 40];
        let fails = |bytes: &[u8]| bytes.len() == 40 && bytes[20] == 9;
        let mut expected = vec![0; 40];
        expected[20] = 9;
        assert_eq!(shrink(bytes, 10_000, &mut |bytes| fails(bytes)), expected);
    }

    #[test]
    fn no_more_is_asked_than_allowed() {
        let mut asked = 0;
        shrink(vec![1; 100], 25, &mut |_| {
            asked += 1;
            false
        });
        assert_eq!(asked, 25);
    }
}
