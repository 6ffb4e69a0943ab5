package io.penstock.wire.simulate;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;
import java.util.random.RandomGenerator;

/// A fault when a certain frame is to be sent; frames count from 0 in each direction of a connection.
public sealed interface LinkFault {
  Direction direction();

  int atFrame();

  /// The frame and what follows it wait for `pause`.
  record Stall(Direction direction, int atFrame, Duration pause) implements LinkFault {
    public Stall {
      check(direction, atFrame);
      requireNonNull(pause, "pause");
    }
  }

  /// The connection is gone, both ways at once, with all that was under way.
  record Cut(Direction direction, int atFrame) implements LinkFault {
    public Cut {
      check(direction, atFrame);
    }
  }

  /// The frame arrives with one bit of the byte at `offset` (modulo its length) turned over.
  record CorruptByte(Direction direction, int atFrame, int offset) implements LinkFault {
    public CorruptByte {
      check(direction, atFrame);
    }
  }

  /// The frame and those that follow it never leave, and the other side gets the end of the stream.
  record HalfClose(Direction direction, int atFrame) implements LinkFault {
    public HalfClose {
      check(direction, atFrame);
    }
  }

  /// Any fault at one of the first `frames` frames.
  static LinkFault random(RandomGenerator random, int frames) {
    Direction direction = random.nextBoolean() ? Direction.UP : Direction.DOWN;
    int atFrame = random.nextInt(frames);
    return switch (random.nextInt(4)) {
      case 0 -> new Stall(direction, atFrame, Duration.ofMillis(random.nextInt(1, 5_000)));
      case 1 -> new Cut(direction, atFrame);
      case 2 -> new CorruptByte(direction, atFrame, random.nextInt(Integer.MAX_VALUE));
      default -> new HalfClose(direction, atFrame);
    };
  }

  private static void check(Direction direction, int atFrame) {
    requireNonNull(direction, "direction");
    Checks.notNegative("atFrame", atFrame);
  }
}
