//! Runs of values in memory and in files.

use hone_base::storage::{Pages, Storage};

#[test]
fn few_and_many_values_are_zero_and_their_own() {
    for len in [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 3] {
        let mut pages = Pages::<[f32; 2]>::zeros(len);
        assert_eq!(pages.len(), len);
        assert!(pages.iter().all(|&pair| pair == [0.0; 2]));
        pages
            .iter_mut()
            .zip(0u32..)
            .for_each(|(pair, i)| pair[1] = i as f32);
        let copy = pages.clone();
        pages.iter_mut().for_each(|pair| pair[1] = -1.0);
        assert!(copy.iter().zip(0u32..).all(|(pair, i)| pair[1] == i as f32));
    }
}

#[test]
fn values_in_a_file_can_be_read_and_come_back() {
    let folder = std::env::temp_dir();
    for len in [0, 1, 1000, 1 << 16, (3 << 16) + 7] {
        let values: Vec<u32> = (0..len as u32).collect();
        let mut storage = Storage::from(values.clone());
        storage.move_to_file(&folder).expect("written");
        assert!(storage.is_in_file() && storage.is_empty() && storage.count() == len);
        let mut last = [7; 1];
        if len > 0 {
            storage.read(len - 1, &mut last);
            assert_eq!(last[0] as usize, len - 1);
        }
        let mut copy = storage.clone();
        for one in [&mut storage, &mut copy] {
            one.move_to_memory().expect("read");
            assert_eq!(one[..], values);
        }
    }
}
