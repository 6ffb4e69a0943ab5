package io.penstock.storage.check;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;

/// A file of which the medium does not give one byte. As the system does, it gives what lies before, then fails.
record FailingFile(SeekableByteChannel file, long bad) implements SeekableByteChannel {
  static final String ERROR = "Input/output error";

  @Override
  public int read(ByteBuffer into) throws IOException {
    int limit = into.limit();
    if (position() == bad) {
      throw new IOException(ERROR);
    }
    if (position() < bad) {
      into.limit((int) Math.min(limit, into.position() + bad - position()));
    }
    try {
      return file.read(into);
    } finally {
      into.limit(limit);
    }
  }

  @Override
  public long position() throws IOException {
    return file.position();
  }

  @Override
  public SeekableByteChannel position(long to) throws IOException {
    file.position(to);
    return this;
  }

  @Override
  public long size() throws IOException {
    return file.size();
  }

  @Override
  public int write(ByteBuffer from) {
    throw new NonWritableChannelException();
  }

  @Override
  public SeekableByteChannel truncate(long size) {
    throw new NonWritableChannelException();
  }

  @Override
  public boolean isOpen() {
    return file.isOpen();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
