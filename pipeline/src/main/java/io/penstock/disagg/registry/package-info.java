/// The place where the ranks of prefill and decode instances find each other: registered ranks, their endpoints and
/// generations, and whether all ranks of an instance are there. A model without threads; its clock is given.
@NullMarked
package io.penstock.disagg.registry;

import org.jspecify.annotations.NullMarked;
