package io.penstock.examples.disaggregated.rank;

/// Receives the progress of a prefill, on its thread.
public interface PrefillSteps {
  /// No listener.
  PrefillSteps NONE = new PrefillSteps() {};

  /// A chunk begins: afterwards the prompt is computed up to `end`, excluded.
  ///
  /// @param last whether the prompt ends there
  default void chunk(int end, boolean last) {}

  /// The cache of `layer` is written for all tokens of the chunk. The draft head's layer comes last.
  default void layer(int layer) {}

  /// Calls `first` before this one.
  default PrefillSteps after(PrefillSteps first) {
    PrefillSteps second = this;
    return new PrefillSteps() {
      @Override
      public void chunk(int end, boolean last) {
        first.chunk(end, last);
        second.chunk(end, last);
      }

      @Override
      public void layer(int layer) {
        first.layer(layer);
        second.layer(layer);
      }
    };
  }
}
