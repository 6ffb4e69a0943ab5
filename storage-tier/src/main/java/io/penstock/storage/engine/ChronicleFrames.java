package io.penstock.storage.engine;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/// Frames of a Chronicle cycle file: a word each, without a checksum.
final class ChronicleFrames implements Frames {
  private static final int END_TEXT = 0x464F45C3; // EOF, as Chronicle writes it behind its mark
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static int word(SegmentWindow file, long at) {
    return file.bytes(at, ChronicleFormat.HEADER_BYTES).get(INT, 0);
  }

  @Override
  public String engine() {
    return ChronicleEngine.NAME;
  }

  @Override
  public int segment(Path file) {
    return ChronicleFormat.segment(file);
  }

  @Override
  public boolean isHome(String folder) {
    return ChronicleEngine.RUN.matcher(folder).matches();
  }

  @Override
  public int bytes() {
    return ChronicleFormat.HEADER_BYTES;
  }

  @Override
  public int alignment() {
    return ChronicleFormat.HEADER_BYTES;
  }

  @Override
  public int start() {
    return 0;
  }

  @Override
  public boolean isChecked() {
    return false;
  }

  @Override
  public boolean isReserved() {
    return true;
  }

  @Override
  public int zerosBehind() {
    return ChronicleRun.BEHIND_BYTES;
  }

  @Override
  public boolean hasHead(SegmentWindow file, int segment) {
    return true;
  }

  @Override
  public ByteBuffer head(int segment, long capacity) {
    return ByteBuffer.allocate(0);
  }

  @Override
  public Frame at(SegmentWindow file, int segment, long at) {
    long left = file.size() - at - bytes();
    if (left < 0) {
      return Frame.BROKEN;
    }
    int header = word(file, at);
    if (header == 0) {
      return Frame.END;
    }
    if (header == ChronicleFormat.END_OF_FILE) {
      return left >= bytes() && word(file, at + bytes()) == END_TEXT ? new Frame(Frame.Kind.END, bytes()) : Frame.END;
    }
    int length = header & ChronicleFormat.LENGTH;
    if ((header & ChronicleFormat.NOT_COMPLETE) != 0 || length == 0 || length > left) {
      return Frame.BROKEN;
    }
    return new Frame((header & ChronicleFormat.META_DATA) == 0 ? Frame.Kind.RECORD : Frame.Kind.OTHER, length);
  }

  @Override
  public ByteBuffer frame(int segment, long record, int length) {
    return PlainFormat.direct(bytes()).putInt(0, length);
  }
}
