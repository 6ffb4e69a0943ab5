package io.penstock.examples.incidents.script;

import io.penstock.recording.RecordedEvent;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What takes the inputs of an incident, one after the other: a small double of a peer, or the classes of Penstock.
/// Equal inputs give equal facts. Single-threaded.
public interface Subject extends AutoCloseable {
  /// Takes an input.
  ///
  /// @param facts receives what the subject makes of it, in order
  void take(RecordedEvent input, Consumer<RecordedEvent> facts);

  /// The promise of the incident, looked at between two inputs.
  ///
  /// @return how it is broken now; null if it is kept
  @Nullable String violation();

  /// Whether all ended as its users may expect. After the last input.
  boolean isGood();

  /// How it ended, in a sentence.
  String ending();

  @Override
  default void close() {}
}
