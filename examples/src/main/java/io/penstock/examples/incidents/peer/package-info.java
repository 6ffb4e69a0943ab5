/// Small doubles of peers, each with one mechanism that failed in the field, and the inputs under which it fails.
///
/// A double is written from what the peer's issue says. Its comment says which part that is, and which part we infer.
@NullMarked
package io.penstock.examples.incidents.peer;

import org.jspecify.annotations.NullMarked;
