package io.penstock.wire.security;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashSet;

/// Secrets that were wrong, the last 4,096 of them: a client that shows one again and again has it compared once. Safe
/// from any thread.
final class WrongSecrets {
  private static final int MOST = 4_096;

  @GuardedBy("this") private final LinkedHashSet<SecretMark> marks = new LinkedHashSet<>();

  synchronized void add(SecretMark mark) {
    marks.addLast(mark);
    if (marks.size() > MOST) {
      marks.removeFirst();
    }
  }

  synchronized boolean has(SecretMark mark) {
    return marks.contains(mark);
  }
}
