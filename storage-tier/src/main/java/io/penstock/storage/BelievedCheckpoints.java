package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.SpaceId;
import io.penstock.storage.checkpoint.Checkpoints;
import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import java.util.List;

/// Checkpoints as far as an opening believes them. One thread.
final class BelievedCheckpoints {
  /// None, or one that is not to be believed.
  static final Named NOTHING = new Named(List.of(), false);

  private final Checkpoints checkpoints;
  private final SpaceId space;
  private final PlaceTable places;
  private final RecordReader reader;

  BelievedCheckpoints(Checkpoints checkpoints, SpaceId space, PlaceTable places, RecordReader reader) {
    this.checkpoints = checkpoints;
    this.space = space;
    this.places = places;
    this.reader = reader;
  }

  /// What a checkpoint says.
  ///
  /// @param records of its segment; none if it says nothing about this journal
  /// @param isBelieved whether the last of them is where it says: whoever has that one has all before it
  record Named(List<Noted> records, boolean isBelieved) {}

  /// What the checkpoint of `segment` says.
  ///
  /// @param before the highest sequence of earlier segments
  Named of(int segment, long before) {
    List<Noted> known = checkpoints.read(segment);
    if (known == null || known.isEmpty() || !known.getFirst().key().space().equals(space)
        || !isPossible(known, before)) {
      return NOTHING;
    }
    return new Named(known, isThere(known.getLast()));
  }

  private boolean isThere(Noted last) {
    try {
      RecordHead head = reader.finished(last.at());
      return head.crc() == last.crc() && head.sequence() == last.sequence();
    } catch (KvException e) {
      return false; // the visit will tell
    }
  }

  /// Whether each of `known` follows the one before, and every block's record is as long as all.
  private boolean isPossible(List<Noted> known, long sequence) {
    long before = sequence;
    for (Noted each : known) {
      if (each.sequence() <= before || (each.kind() == RecordKind.BLOCK && !places.fits(each.at()))) {
        return false;
      }
      before = each.sequence();
    }
    return true;
  }
}
