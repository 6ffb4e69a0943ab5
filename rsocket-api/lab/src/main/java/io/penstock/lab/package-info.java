/// Benches and proofs of a node. The archive of a node does not contain them; the launcher of the source tree runs them
/// beside the node's own commands.
@NullMarked
package io.penstock.lab;

import org.jspecify.annotations.NullMarked;
