/// Prefill here, decode there: the ranks of two instances between which the KV blocks of a request go.
///
/// A *rank* is one worker of an instance. [io.penstock.disagg.plan] says which rank sends what to which,
/// [io.penstock.disagg.registry] which ranks are there, and [io.penstock.disagg.request] how a request lives and ends.
@NullMarked
package io.penstock.disagg;

import org.jspecify.annotations.NullMarked;
