package io.penstock.examples.incidents.peer;

import static io.penstock.examples.incidents.script.Words.fact;
import static io.penstock.examples.incidents.script.Words.keys;
import static io.penstock.examples.incidents.script.Words.names;

import io.penstock.block.BlockKey;
import io.penstock.examples.incidents.script.Schedule;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A prefill rank that counts the DONE messages of its readers, as those of vLLM-Ascend do.
///
/// From a production report: completions are counted, it is not known whose they are, and a duplicate or late one
/// counts as another. From the sources: a DONE states how many there will be, and a reader whose acknowledgement is
/// late sends its DONE again. Inferred: the two meet, and the memory of the rank is taken before the last reader came.
/// An order in which the repeated message comes last does no harm.
public final class CountedDone implements Subject {
  private static final int READERS = 2;

  private List<BlockKey> memory = List.of();
  private boolean free;
  private int done;
  private final TreeSet<Long> readers = new TreeSet<>();
  private int wrong;
  private String ending = "no read";

  /// Reader 0 is done, its acknowledgement is lost, and it says so again. Reader 1 reads last.
  public static Schedule schedule() {
    return new Schedule()
        .input(Kind.FLOW, 1, "request is kept for readers 0 and 1", keys(1, 0, 4))
        .at(5).input(Kind.READ, 1, "reader 0", keys(1, 0, 2), 0)
        .at(6).input(Kind.LINK, 1, "DONE of reader 0", 0, 3, 1)
        .at(1006).input(Kind.LINK, 1, "DONE of reader 0, sent again", 0, 3, 2)
        .at(1010).input(Kind.FLOW, 2, "another request takes free memory", keys(2, 0, 4))
        .at(1020).input(Kind.READ, 1, "reader 1", keys(1, 2, 4), 1)
        .at(1021).input(Kind.LINK, 1, "DONE of reader 1", 1, 3, 1);
  }

  @Override
  public void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    switch (input.kind()) {
      case FLOW -> {
        if (input.flow() == 1 || free) {
          memory = input.keys();
          free = false;
          facts.accept(fact(Kind.STORED, input.flow(), "memory of the rank", memory));
        }
      }
      case READ -> {
        List<BlockKey> read = input.number(0) == 0 ? memory.subList(0, 2) : memory.subList(2, 4);
        wrong += read.equals(input.keys()) ? 0 : 1;
        ending = "reader " + input.number(0) + " got " + names(read) + " for " + names(input.keys());
        facts.accept(fact(Kind.FLOW_NEXT, input.flow(), "reader " + input.number(0) + " gets", read));
      }
      case LINK -> {
        readers.add(input.number(0));
        if (++done == READERS) {
          free = true;
          facts.accept(fact(Kind.REMOVED, input.flow(), "counter is " + done + ": freed", memory));
        } else {
          facts.accept(fact(Kind.ANSWER, input.flow(), "counter is " + done));
        }
      }
      default -> throw new IllegalArgumentException("input must be one of a prefill rank (was " + input + ")");
    }
  }

  @Override
  public @Nullable String violation() {
    return done >= READERS && readers.size() < READERS
        ? "blocks are free with " + done + " DONE of " + readers.size() + " of " + READERS + " readers"
        : null;
  }

  @Override
  public boolean isGood() {
    return wrong == 0;
  }

  @Override
  public String ending() {
    return ending;
  }
}
