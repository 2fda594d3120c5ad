//! The table of growth, in small.

use windlass_sim::growth::measure;

#[test]
fn a_jobs_messages_do_not_grow_with_the_number_of_workers() {
    let few = measure(1, 4).unwrap();
    let many = measure(1, 40).unwrap();
    assert_eq!((few.jobs, many.jobs), (64, 512));
    assert!(many.messages_each < 2.0 * few.messages_each, "{few}\n{many}");
    let masters = measure(3, 40).unwrap();
    assert_eq!(masters.jobs, many.jobs);
}
