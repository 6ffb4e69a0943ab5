/// The two parties of a replay, decode and prefill, in this process, behind a connection, or in processes of their own.
@NullMarked
package io.penstock.node.party;

import org.jspecify.annotations.NullMarked;
