/// Which instance computes a prompt, and which generates its answer: by load, by the blocks that each instance has, and
/// by the session.
@NullMarked
package io.penstock.gateway.choice;

import org.jspecify.annotations.NullMarked;
