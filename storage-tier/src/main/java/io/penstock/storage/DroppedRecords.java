package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.engine.Location;
import io.penstock.storage.record.RecordException;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The records that an opening drops, and which of them were finished, and are damaged. One thread.
///
/// A stop in the midst of a record leaves no mark, and a page that never got to the medium is one of zeros: neither is
/// damage. Where a file was written anew, a mark of its earlier life may show behind a head that was begun; nothing but
/// a broken frame follows that one.
final class DroppedRecords {
  private static final int NAMED = 8;

  private final RecordReader reader;
  private final int headBytes;
  private final int recordBytes;
  private final int most;
  private final List<DamagedRecord> records = new ArrayList<>();
  /// Sequences of those whose block was neither written again nor removed.
  private final Map<BlockKey, Long> named = new LinkedHashMap<>();
  private int dropped;
  private int heads;
  private int unlisted;
  /// What follows tells whether it was finished.
  private @Nullable DamagedRecord doubtful;

  /// @param headBytes of a block's record
  /// @param most records that are kept: those and one more, which is told why it is not, are listed, and the others
  ///     counted
  DroppedRecords(RecordReader reader, int headBytes, int recordBytes, int most) {
    this.reader = reader;
    this.headBytes = headBytes;
    this.recordBytes = recordBytes;
    this.most = most;
  }

  /// One that was never finished.
  void unfinished() {
    dropped++;
  }

  /// No record of this journal is at `at`; if it was taken out, that is no news.
  ///
  /// @param head of a record of another shape; null if it is the head that is not good
  void bad(Location at, @Nullable RecordHead head, RecordException why) {
    follows();
    boolean isAside = head == null && reader.isAside(at);
    dropped += isAside ? 0 : 1;
    if (head == null && !isAside) {
      badHead(at, why);
    }
  }

  private void badHead(Location at, RecordException why) {
    int head = at.length() == recordBytes ? headBytes : at.length();
    if (reader.hasMark(at) && !reader.hasHole(at, 0, head)) {
      doubtful =
          new DamagedRecord(at, new Damage(at.segment(), at.offset(), at.length(), DamageKind.HEAD, null, 0, -1, true,
              String.valueOf(why.getMessage())));
    }
  }

  /// The record of a block has its mark, and `flaw`.
  void payload(Noted record, RecordHead head, Flaw flaw) {
    dropped++;
    long from = head.bytes();
    for (int granule = 0; granule < flaw.granule(); granule++) {
      from += head.granuleBytes(granule);
    }
    if (!reader.hasHole(record.at(), from, from + head.granuleBytes(flaw.granule()))
        && list(new DamagedRecord(record.at(),
            flaw.damage(record.at(), record.key(), record.sequence())))) {
      named.put(record.key(), record.sequence());
    }
  }

  /// Another record follows, or an end.
  void follows() {
    DamagedRecord last = doubtful;
    doubtful = null;
    if (last != null && list(last)) {
      heads++;
    }
  }

  /// What follows is neither.
  void breaksOff() {
    doubtful = null;
  }

  private boolean list(DamagedRecord damaged) {
    if (records.size() > most) {
      unlisted++;
      return false;
    }
    return records.add(damaged);
  }

  /// The block of `key` was written again.
  void written(BlockKey key) {
    if (!named.isEmpty()) {
      named.remove(key);
    }
  }

  /// A record was removed: it counts no more, damaged or not.
  void removed(RecordName record) {
    named.remove(record.key(), record.sequence());
  }

  /// All of them.
  int dropped() {
    return dropped;
  }

  /// Those that are damaged, and would count else.
  int damaged() {
    return heads + named.size() + unlisted;
  }

  /// Damaged ones that are not in [#records].
  int unlisted() {
    return unlisted;
  }

  /// Damaged ones in the order of writing.
  List<DamagedRecord> records() {
    return records;
  }

  /// Blocks of those that count; a damaged head does not say which.
  List<BlockKey> keys() {
    return List.copyOf(named.keySet());
  }

  /// For a log: some of the damaged ones by name.
  @Override
  public String toString() {
    return dropped
        + " of its records are not whole and count no more: left unfinished at the last stop, or damaged since"
        + (damaged() == 0 ? "" : "; damaged: " + damaged() + ", " + names());
  }

  private String names() {
    Stream<String> first = named.keySet().stream().limit(NAMED).map(key -> "block " + key);
    Stream<String> others = Stream
        .of(more(named.size() - NAMED, "more blocks"), more(heads, "of unknown blocks, by their heads"),
            more(unlisted, "more"))
        .filter(each -> !each.isEmpty());
    return Stream.concat(first, others).collect(Collectors.joining(", "));
  }

  private static String more(int count, String what) {
    return count <= 0 ? "" : count + " " + what;
  }
}
