package io.penstock.storage;

import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;

/// A file that has a record at its beginning and one at its end, as long as each other, and zeros in between.
final class TwoRecords implements SeekableByteChannel {
  private final ByteBuffer records;
  private final int length;
  private final long lastAt;
  private long position;

  TwoRecords(ByteBuffer records, long lastAt) {
    this.records = records;
    this.length = records.capacity() / 2;
    this.lastAt = lastAt;
  }

  @Override
  public int read(ByteBuffer into) {
    int count = into.remaining();
    while (into.hasRemaining()) {
      into.put(at(position++));
    }
    return count;
  }

  private byte at(long offset) {
    if (offset >= lastAt) {
      return records.get((int) (length + offset - lastAt));
    }
    return offset < length ? records.get((int) offset) : 0;
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public SeekableByteChannel position(long newPosition) {
    position = newPosition;
    return this;
  }

  @Override
  public long size() {
    return lastAt + length;
  }

  @Override
  public int write(ByteBuffer from) {
    throw new UnsupportedOperationException("a file that is read");
  }

  @Override
  public SeekableByteChannel truncate(long newSize) {
    throw new UnsupportedOperationException("a file that is read");
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void close() {
    // nothing is open
  }
}
