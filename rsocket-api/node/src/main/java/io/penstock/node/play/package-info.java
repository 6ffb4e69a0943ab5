/// Playing recordings: what is compared, where it stops, and what a change of the tiers would do.
@NullMarked
package io.penstock.node.play;

import org.jspecify.annotations.NullMarked;
