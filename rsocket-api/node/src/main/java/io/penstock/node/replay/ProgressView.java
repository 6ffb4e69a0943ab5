package io.penstock.node.replay;

/// Shows a person how far a replay has come. Called from one thread at a time.
interface ProgressView extends AutoCloseable {
  /// Shows the state at this moment.
  ///
  /// @param bytesPerSecond delivered since the last call
  /// @param inFlightBytes over all parties
  void show(Tally.Sums sums, double bytesPerSecond, long inFlightBytes);

  /// Shows the state at the end of a run that came to its end; `sums` has all of its requests.
  ///
  /// @param bytesPerSecond over the whole run
  void end(Tally.Sums sums, double bytesPerSecond);

  @Override
  void close();
}
