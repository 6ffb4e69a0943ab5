package io.penstock.lab.torture;

import java.util.Locale;

/// What a writer is at when it is ended.
enum Phase {
  /// Between the others.
  IDLE(0),
  /// The opening of the journal, with all that it mends and deletes.
  OPEN(60_000),
  /// A block's record.
  APPEND(80),
  /// A record that begins a segment, and with it the end of the one before.
  ROLL(1_000),
  /// The small file that says what is in a segment.
  CHECKPOINT(4_000),
  /// A live block that is moved out of a segment that is mostly dead: read, and written anew.
  RECLAIM(150),
  /// A segment without live records goes.
  DELETE(400),
  /// A record that says which blocks were removed.
  REMOVE(60),
  /// The medium is waited for.
  SYNC(6_000);

  private final int micros;

  Phase(int micros) {
    this.micros = micros;
  }

  /// About the longest that it takes: how much later than its beginning a kill that is aimed at it may come.
  int micros() {
    return micros;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
