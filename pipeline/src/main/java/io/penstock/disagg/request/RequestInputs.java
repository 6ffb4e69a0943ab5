package io.penstock.disagg.request;

import io.penstock.disagg.RankId;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// What a [PrefillConnector] learns from elsewhere, and what it makes of it. A recording puts the inputs in an order,
/// so that they can be given again; without one nothing is between.
public interface RequestInputs {
  /// Nothing between.
  static RequestInputs direct() {
    return new RequestInputs() {};
  }

  /// The connector is made.
  ///
  /// @param clock of its timers
  /// @param look looks whether a request is over, as a timer does
  default void begin(LifecycleOptions options, LongSupplier clock, Consumer<String> look) {}

  /// Time of the input that is worked on, in nanoseconds.
  ///
  /// @param clock of the timers
  default long nanos(LongSupplier clock) {
    return clock.getAsLong();
  }

  /// Blocks of `request` are to be kept for `receivers`; empty if they are not known.
  default <T extends @Nullable Object> T open(String request, Set<RankId> receivers, Supplier<T> work) {
    return work.get();
  }

  /// A signal came.
  default <T extends @Nullable Object> T hear(Signal signal, Supplier<T> work) {
    return work.get();
  }

  /// Bytes of `request` were sent.
  default void moved(String request, Runnable work) {
    work.run();
  }

  /// This side ends `request`.
  default <T extends @Nullable Object> T withdraw(String request, Supplier<T> work) {
    return work.get();
  }

  /// A timer of `request` ran.
  default long look(String request, LongSupplier work) {
    return work.getAsLong();
  }

  /// The memory of `request` is free.
  default void freed(String request, Runnable work) {
    work.run();
  }

  /// Whether `one` and `other` keep equal blocks.
  default boolean areSame(HeldBlocks one, HeldBlocks other) {
    return one.isSameAs(other);
  }

  /// What became of an open, a signal or a withdrawal.
  default void answered(String request, RequestAnswer answer) {}

  /// The blocks of `request` are given up.
  default void released(String request, Release release) {}

  /// Runs `work`, which calls others, when the input has been worked on.
  default void afterwards(Runnable work) {
    work.run();
  }
}
