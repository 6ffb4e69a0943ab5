package io.penstock.node.client;

import io.penstock.TransientKvException;
import io.penstock.block.BlockScope;
import io.penstock.flow.LeasedValue;
import io.penstock.flow.ValuePart;
import io.penstock.flow.ValueStore;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.content.Channel;
import io.penstock.node.content.WholeInput;
import io.penstock.node.link.Answers;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Sizes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import reactor.core.publisher.Flux;

/// One value of any length under a name: a command puts it from a file, gets it or removes it.
///
/// @param patience longest wait for an answer
record NamedValue(Console console, String name, Duration patience, boolean json) {
  private static final int TRIES = 8;
  /// The pause before the second try; each further one is twice as long.
  private static final Duration FIRST_PAUSE = Duration.ofMillis(10);

  /// The outcome of a put or a get in JSON.
  ///
  /// @param bytes length of the value that the node has; 0 if it has none
  /// @param stored whether this command stored it; always false of a get
  /// @param found whether the node had it already
  record Outcome(String name, long bytes, boolean stored, boolean found) {}

  /// The outcome of a removal in JSON.
  ///
  /// @param removed false if there was no such value
  record Removal(String name, boolean removed) {}

  /// @throws IllegalArgumentException if the options state no space of values
  NamedValue {
    if (name.isBlank()) {
      throw new IllegalArgumentException("--name must not be blank (was " + name + ")");
    }
  }

  static void requireSpace(NodeConfig config) {
    if (!config.states(SpaceSettings.VALUE_PART_BYTES)) {
      throw new IllegalArgumentException(
          "--value-part-bytes must be given with --name, for a name is of a value (was left out)");
    }
  }

  /// Another client was storing a value of a name at each try to replace it.
  static final class OtherWritersException extends TransientKvException {
    OtherWritersException(String name) {
      super("value " + name + " must be free of other writers to be replaced (another client was storing it at each of "
          + TRIES + " tries; value " + name + " is as it was or theirs)");
    }
  }

  /// The bound of what may come from `source` for this value.
  WholeInput.Bound bound(NodeLink node, String source) {
    return new WholeInput.Bound(name, node.tier().info().space().model(), source,
        new ValueStore(node.tier()).longest(name));
  }

  /// Puts `file`. A value of this name that is there stays, unless `replaces`.
  ///
  /// @return a failure if the value that is there has another length, or another writer stores one first
  /// @throws OtherWritersException if it `replaces`, and another client was storing the value each time
  int put(NodeLink node, Path file, boolean replaces) throws IOException {
    try (FileChannel from = FileChannel.open(file); Arena arena = Arena.ofShared()) {
      long length = from.size();
      Flux<MemorySegment> bytes =
          length == 0 ? Flux.empty() : Flux.just(from.map(MapMode.READ_ONLY, 0, length, arena));
      ValueStore values = new ValueStore(node.tier());
      if (replaces ? replace(values, length, bytes) : Answers.of(values.put(name, length, bytes), patience)) {
        tell(new Outcome(name, length, true, false), "%s, %s: stored".formatted(name, Sizes.human(length)));
        return ExitCode.OK;
      }
      Optional<Long> there = Answers.of(values.length(name).singleOptional(), patience);
      if (replaces) {
        if (json) {
          console.json(new Outcome(name, there.orElse(0L), false, there.isPresent()));
        }
        throw new OtherWritersException(name);
      }
      return kept(there, length);
    }
  }

  /// Replaces the value in one step, and tries again while another writer has its name.
  private boolean replace(ValueStore values, long length, Flux<MemorySegment> bytes) {
    for (int i = 0; i < TRIES; i++) {
      if (i > 0) {
        LockSupport.parkNanos(FIRST_PAUSE.toNanos() << (i - 1));
      }
      if (Answers.of(values.replace(name, length, bytes, null, null).hasElement(), patience)) {
        return true;
      }
    }
    return false;
  }

  /// @param there length of the value that the node has; empty while another writer stores it
  private int kept(Optional<Long> there, long length) {
    if (there.isEmpty()) {
      tell(new Outcome(name, 0, false, false), name + ": not stored, for another writer stores a value of this name");
      return ExitCode.FOUND_FAILURE;
    }
    long bytes = there.get();
    tell(new Outcome(name, bytes, false, true), "%s, %s: there already%s".formatted(name, Sizes.human(bytes),
        bytes == length
            ? ", as long as FILE; their bytes were not compared"
            : ", with %d bytes; FILE, which has %d, was not stored (--replace stores it)".formatted(bytes, length)));
    return bytes == length ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  /// Destination of the bytes of a value.
  interface Destination {
    /// Called once, when the value was found.
    WritableByteChannel open() throws IOException;
  }

  /// @param place where the bytes go, to end the sentence; empty for standard output
  int get(NodeLink node, Destination destination, String place) throws IOException {
    try (BlockScope scope = new BlockScope()) {
      Optional<LeasedValue> found =
          Answers.of(new ValueStore(node.tier()).get(name, scope).singleOptional(), patience);
      if (found.isEmpty()) {
        return missing(node, new Outcome(name, 0, false, false));
      }
      LeasedValue value = found.get();
      try (WritableByteChannel to = destination.open()) {
        write(value, to);
      }
      tell(new Outcome(name, value.length(), false, true),
          "%s, %s, verified on arrival%s".formatted(name, Sizes.human(value.length()), place));
      return ExitCode.OK;
    }
  }

  private static void write(LeasedValue value, WritableByteChannel to) {
    for (ValuePart each : value.parts().toIterable(1)) {
      try (ValuePart part = each) {
        part.read(memory -> {
          Channel.writeAll(to, memory.asByteBuffer());
          return true;
        });
      }
    }
  }

  int remove(NodeLink node) {
    boolean removed = Answers.of(new ValueStore(node.tier()).remove(name), patience);
    if (!removed) {
      return missing(node, new Removal(name, false));
    }
    if (json) {
      console.json(new Removal(name, true));
    } else {
      console.print(name + ": removed");
    }
    return ExitCode.OK;
  }

  /// Values of the doors lie with others of about their length. What parts the doors of the node have is not known
  /// here, so the hint is for the space alone that they use by default.
  private int missing(NodeLink node, Object outcome) {
    boolean mayBeOfDoors = node.tier().info().space().model().equals(DoorSettings.RESP.spaces().initial());
    tell(outcome, "missing " + name + (mayBeOfDoors
        ? " (doors keep a value by its length, by default with --value-part-bytes "
            + DoorSettings.RESP.partBytes().initial().replace(" ", "").replace(",", " or ") + ")"
        : ""));
    return ExitCode.FOUND_FAILURE;
  }

  private void tell(Object outcome, String sentence) {
    if (json) {
      console.json(outcome);
    } else {
      console.say(sentence);
    }
  }
}
