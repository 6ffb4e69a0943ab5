package io.penstock.storage.check;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/// What a quarantine holds. One thread at a time.
final class QuarantineStock {
  /// Of its index.
  private final Set<String> lines = new HashSet<>();
  private final QuarantineIndex index;
  private long bytes;
  private int records;

  private QuarantineStock(boolean isCut) {
    this.index = new QuarantineIndex(isCut);
  }

  /// What is in `folder`, that of earlier runs. Copies that these did not finish go: no thread makes one yet.
  static QuarantineStock of(Path folder, Path index) throws IOException {
    String text = Files.exists(index) ? Files.readString(index) : "";
    QuarantineStock stock = new QuarantineStock(!text.isEmpty() && !text.endsWith("\n"));
    text.lines().forEach(each -> stock.lines.add(each + "\n"));
    try (DirectoryStream<Path> drafts = Files.newDirectoryStream(folder, "*.draft")) {
      for (Path draft : drafts) {
        Files.delete(draft);
      }
    }
    try (DirectoryStream<Path> copies = Files.newDirectoryStream(folder, "*.bin")) {
      for (Path copy : copies) {
        stock.take(Files.size(copy));
      }
    }
    return stock;
  }

  boolean fits(long more, QuarantineBound bound) {
    return records < bound.records() && more <= bound.bytes() - bytes;
  }

  void take(long more) {
    records++;
    bytes += more;
  }

  void giveBack(long unused) {
    records--;
    bytes -= unused;
  }

  /// Whether there is a copy whose name begins with `name`.
  boolean has(String name) {
    return lines.stream().anyMatch(line -> line.contains(name));
  }

  boolean isNoted(String line) {
    return lines.contains(line);
  }

  /// What its lines are written with, by any thread.
  QuarantineIndex index() {
    return index;
  }

  /// `line` was written, and is on the medium.
  void note(String line) {
    lines.add(line);
  }

  @Override
  public String toString() {
    return records + " records and " + bytes + " bytes";
  }
}
