/// `penstock gateway simulate`: what a policy of choice would have made of a trace, in virtual time. The router is the
/// gateway's own; the instances are models: an LRU cache of blocks, and prompts that are computed one after another.
@NullMarked
package io.penstock.gateway.simulate;

import org.jspecify.annotations.NullMarked;
