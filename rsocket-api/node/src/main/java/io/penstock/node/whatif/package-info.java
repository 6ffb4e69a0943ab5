/// The effect of other capacities: pages of the admin server, a chart, and the command `penstock whatif`.
@NullMarked
package io.penstock.node.whatif;

import org.jspecify.annotations.NullMarked;
