package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.JournalModel.Written;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.engine.file.JournalFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/// What happens to a journal that is not open: damage by chance, and checks. Its model hears of it.
///
/// @param done told in words
record JournalDamage(Path journal, JournalModel model, Random random, List<String> done) {
  private static final int HEAD_BYTES = 96;

  private enum What {
    FLIP, HEAD, FRAME, CUT, CHECKPOINT, CHECKPOINTS, CHECK
  }

  @FunctionalInterface
  private interface Change {
    void of(FileChannel file) throws IOException;
  }

  void any() throws IOException {
    if (model.all().findAny().isEmpty()) {
      return; // the damage before took all there was
    }
    int segment =
        model.segments.keySet().stream().skip(random.nextInt(model.segments.size())).findFirst().orElseThrow();
    Written record = model.all().skip(random.nextInt((int) model.all().count())).findFirst().orElseThrow();
    switch (What.values()[random.nextInt(What.values().length)]) {
      case FLIP -> flip(segment, random.nextLong(Math.max(1, Files.size(file(segment)))));
      case HEAD -> flip(record.at.segment(), record.at.offset() + random.nextInt(HEAD_BYTES));
      case FRAME -> overwriteFrame(record, random.nextBoolean() ? 0 : random.nextInt());
      case CUT -> cut(segment, random.nextLong(Math.max(1, Files.size(file(segment)))));
      case CHECKPOINT -> flipCheckpoint(segment);
      case CHECKPOINTS -> {
        JournalSample.deleteCheckpoints(journal);
        done.add("checkpoints deleted");
      }
      case CHECK -> assertThat(JournalCheck.run(journal, CheckProgress.none()).live()).as("blocks that a check finds")
          .isGreaterThanOrEqualTo(model.must().size());
    }
  }

  /// A kill fell before the newest record was written to its end: with Chronicle all of it is there but for its frame.
  void unfinished() {
    Written last = model.all().max(Comparator.comparingLong(each -> each.sequence)).orElseThrow();
    long from = last.at.offset() - model.frame;
    if (file(last.at.segment()).toString().endsWith(".log")) {
      change(last.at.segment(), file -> file.truncate(from + random.nextInt(last.at.length())));
    } else {
      write(last.at.segment(), from, random.nextBoolean() ? 0 : Integer.MIN_VALUE | last.at.length());
    }
    model.damaged(last.at.segment(), from, last.at.offset() + last.at.length());
  }

  private void flip(int segment, long at) {
    change(segment, file -> {
      ByteBuffer one = ByteBuffer.allocate(1);
      file.read(one, at);
      file.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 1 << random.nextInt(8))}), at);
    });
    model.damaged(segment, at, at + 1);
    done.add("segment %d flipped at %d".formatted(segment, at));
  }

  private void overwriteFrame(Written record, int word) {
    if (model.frame == 0) {
      return; // nothing lies between records
    }
    long at = record.at.offset() - model.frame;
    write(record.at.segment(), at, word);
    model.damaged(record.at.segment(), at, record.at.offset());
    done.add("segment %d frame at %d overwritten with %08x".formatted(record.at.segment(), at, word));
  }

  private void cut(int segment, long to) {
    change(segment, file -> file.truncate(to));
    model.cut(segment, to);
    done.add("segment %d cut at %d".formatted(segment, to));
  }

  private void flipCheckpoint(int segment) throws IOException {
    Path checkpoint = journal.resolve("checkpoint-%010d".formatted(segment));
    if (Files.exists(checkpoint)) {
      byte[] bytes = Files.readAllBytes(checkpoint);
      bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      Files.write(checkpoint, bytes);
      done.add("checkpoint of %d flipped".formatted(segment));
    }
  }

  private void write(int segment, long frame, int word) {
    change(segment,
        file -> file.write(ByteBuffer.allocate(model.frame).order(ByteOrder.LITTLE_ENDIAN).putInt(0, word), frame));
  }

  private void change(int segment, Change change) {
    try (FileChannel file = FileChannel.open(file(segment), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      change.of(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path file(int segment) {
    try (JournalFiles files = JournalFiles.reading(journal)) {
      return files.segments().stream().filter(each -> each.number() == segment).findFirst().orElseThrow().path();
    }
  }
}
