/// The command `penstock plan`: who sends what to whom when prefill and decode run with different parallelism, and
/// whether the rules give what recorded cases of an engine say.
@NullMarked
package io.penstock.node.plan;

import org.jspecify.annotations.NullMarked;
