package io.penstock.examples.stream;

import java.util.List;

/// What a [StreamRun] saw.
///
/// @param bytesPerSecond the rate that was set
/// @param elapsedSeconds until the reader cancelled or came to the end
/// @param readBytes read and compared
/// @param madeBytes made for the slow reader
/// @param peakInFlightBytes highest charge of the reader's budget
/// @param budgetBytes its limit
/// @param peakNetworkBytes most bytes between the two ends of the connection, frame headers included
/// @param peakHeldBytes most bytes made and not yet read
/// @param boundBytes the limit on those
/// @param peakArenaBytes most bytes claimed from the reader's arena
/// @param residentBytes memory of the process, least and most, from two seconds on; zeros where the system does not
///     tell
/// @param nettyBytes direct memory of Netty's allocator, least and most, from two seconds on
/// @param wrongSpans parts that were not what they had to be
/// @param leakedBlocks blocks, and units of the budget, not given back after the end
/// @param secondAlone bytes a second of the second reader before the slow one started, 0 without one
/// @param secondBeside the same beside the slow one
/// @param samples the gauges over time
record StreamReport(long bytesPerSecond, double elapsedSeconds, long readBytes, long madeBytes, long peakInFlightBytes,
    long budgetBytes,
    long peakNetworkBytes, long peakHeldBytes, long boundBytes, long peakArenaBytes, Span residentBytes,
    Span nettyBytes,
    long wrongSpans, long leakedBlocks, double secondAlone, double secondBeside, List<Sample> samples) {
  /// Minimum and maximum.
  record Span(long least, long most) {}

  /// Seconds after which a stream counts as settled.
  static final double SETTLED = 2;

  StreamReport {
    samples = List.copyOf(samples);
  }

  /// Whether everything stayed within its bounds and came back right.
  boolean isGood() {
    return peakInFlightBytes <= budgetBytes && peakHeldBytes <= boundBytes && wrongSpans == 0 && leakedBlocks == 0;
  }
}
