package io.penstock.storage.engine;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/// Frames of [PlainEngine]: with checksums, behind a head.
final class PlainFrames implements Frames {
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public String engine() {
    return PlainEngine.NAME;
  }

  @Override
  public int segment(Path file) {
    return PlainFormat.segment(file);
  }

  @Override
  public boolean isHome(String folder) {
    return folder.isEmpty();
  }

  @Override
  public int bytes() {
    return PlainFormat.FRAME_BYTES;
  }

  @Override
  public int alignment() {
    return SegmentEngine.RECORD_ALIGNMENT;
  }

  @Override
  public int start() {
    return PlainFormat.HEAD_BYTES;
  }

  @Override
  public boolean isChecked() {
    return true;
  }

  @Override
  public boolean isReserved() {
    return false;
  }

  @Override
  public int zerosBehind() {
    return PlainFormat.FRAME_BYTES;
  }

  @Override
  public boolean hasHead(SegmentWindow file, int segment) {
    return file.size() >= start() && PlainFormat
        .isHead(file.bytes(0, start()).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN), file.path(), segment);
  }

  @Override
  public ByteBuffer head(int segment, long capacity) {
    return PlainFormat.head(segment, capacity);
  }

  @Override
  public Frame at(SegmentWindow file, int segment, long at) {
    long left = file.size() - at - bytes();
    if (left < 0) {
      return Frame.BROKEN;
    }
    MemorySegment frame = file.bytes(at, bytes());
    int length = frame.get(INT, 0);
    int crc = frame.get(INT, 4);
    if (length == 0 && crc == 0) {
      return Frame.END;
    }
    boolean whole =
        length > 0 && length <= EngineOptions.MOST_RECORD_BYTES && length % alignment() == 0 && length <= left
            && crc == PlainFormat.frameCrc(segment, at + bytes(), length);
    return whole ? new Frame(Frame.Kind.RECORD, length) : Frame.BROKEN;
  }

  @Override
  public ByteBuffer frame(int segment, long record, int length) {
    ByteBuffer frame = PlainFormat.direct(bytes());
    PlainFormat.frame(frame, segment, record, length);
    return frame;
  }
}
