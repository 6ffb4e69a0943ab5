package io.penstock.storage.rivals;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What a median, mostly a store's, is to that of a rival, and what it should be at least.
///
/// @param of the comparison
/// @param rival of ours, or what bounds it
/// @param to the rival that it is compared with
/// @param ratio of the medians
/// @param least that is wanted; 0 if none is
record Verdict(Comparison of, String rival, String to, double ratio, double least) {
  private static final List<String> STORES = List.of("chronicle", "plain");

  static List<Verdict> ofAppend(Comparison of) {
    List<Verdict> all = new ArrayList<>();
    for (String store : List.of("chronicle", "plain", "engine")) {
      add(all, of, store, "file", 0.80);
      add(all, of, store, "rocksdb", 0);
    }
    return all;
  }

  static List<Verdict> ofCachedReads(Comparison of) {
    List<Verdict> all = new ArrayList<>();
    for (String store : STORES) {
      add(all, of, store, "mapped file", 0.85);
      add(all, of, store, "rocksdb", 8);
      add(all, of, store, "rocksdb unchecked", 0);
    }
    add(all, of, "mapped file", "rocksdb", 0); // no store can have more of this than a copy
    return all;
  }

  static List<Verdict> ofColdReads(Comparison of) {
    List<Verdict> all = new ArrayList<>();
    for (String store : STORES) {
      add(all, of, store, ColdContest.FIO_DIRECT, 0.85);
      add(all, of, store, ColdContest.FIO_BUFFERED, 0.85);
    }
    return all;
  }

  private static void add(List<Verdict> all, Comparison of, String rival, String to, double least) {
    if (of.has(rival) && of.has(to)) {
      all.add(new Verdict(of, rival, to, of.ratio(rival, to), least));
    }
  }

  String text() {
    String judged =
        least == 0 ? "" : String.format(Locale.ROOT, "wanted %.2f  %s", least, ratio >= least ? "reached" : "MISSED");
    return String.format(Locale.ROOT, "%-26s %5d KiB  %-10s : %-22s %6.2f  %s", of.name(), of.blockBytes() >> 10, rival,
        to, ratio, judged).stripTrailing();
  }

  Map<String, Object> json() {
    return Map.of("name", of.name(), "blockBytes", of.blockBytes(), "rival", rival, "to", to, "ratio", ratio, "wanted",
        least);
  }
}
