/// Conversations that share a system prompt, against a node: what each turn reuses from which tier, with and without an
/// SSD.
@NullMarked
package io.penstock.examples.conversations;

import org.jspecify.annotations.NullMarked;
