use std::hint::black_box;

#[inline(never)]
fn burn_rust(n: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..n { sum = black_box(sum.wrapping_mul(31) ^ i); }
    sum
}

#[inline(never)]
fn way_rust(n: u64) -> u64 {
    let room = black_box([n as u8; 99]);
    burn_rust(n) + room[2] as u64
}

#[inline(never)]
fn closures(n: u64) -> u64 {
    let parts: Vec<u64> = vec![n / 2, n / 2];
    parts.iter().map(|one| way_rust(*one) + 1).sum()
}

fn main() {
    let thread = std::thread::spawn(|| closures(40_000_000));
    black_box(closures(40_000_000) + thread.join().unwrap());
}
