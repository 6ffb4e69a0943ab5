/// Where the ranks of prefill and decode instances find each other: who is there, at which endpoint, in which
/// generation, and whether all ranks of an instance are. A model without threads; its clock is given.
@NullMarked
package io.penstock.disagg.registry;

import org.jspecify.annotations.NullMarked;
