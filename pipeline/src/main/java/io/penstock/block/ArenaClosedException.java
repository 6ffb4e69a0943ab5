package io.penstock.block;

import io.penstock.PermanentKvException;

/// The arena was closed: it lends no more.
public final class ArenaClosedException extends PermanentKvException {
  private final String arena;

  public ArenaClosedException(String arena) {
    super(arena + " must be open (was closed)");
    this.arena = arena;
  }

  public String arena() {
    return arena;
  }
}
