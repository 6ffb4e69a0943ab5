/// The command `penstock plan`: which rank sends what to which when prefill and decode run with different parallelism,
/// and whether the rules give what recorded cases of an engine say.
@NullMarked
package io.penstock.node.plan;

import org.jspecify.annotations.NullMarked;
