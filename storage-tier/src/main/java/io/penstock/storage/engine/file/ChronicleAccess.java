package io.penstock.storage.engine.file;

import io.penstock.storage.engine.EngineFailure.EngineUnavailableException;
import java.util.ArrayList;
import java.util.List;
import net.openhft.chronicle.queue.ChronicleQueue;

/// Checks the JVM flags that Chronicle needs. Without them, Chronicle starts and fails at the first append.
final class ChronicleAccess {
  private ChronicleAccess() {}

  /// @throws EngineUnavailableException naming the missing flags
  static void require() {
    Module jdk = Object.class.getModule();
    Module chronicle = ChronicleQueue.class.getModule();
    List<String> missing = new ArrayList<>();
    if (!jdk.isOpen("java.lang.reflect", chronicle)) {
      missing.add("--add-opens=java.base/java.lang.reflect=ALL-UNNAMED");
    }
    for (String inside : List.of("sun.nio.ch", "jdk.internal.ref")) {
      if (!jdk.isExported(inside, chronicle)) {
        missing.add("--add-exports=java.base/" + inside + "=ALL-UNNAMED");
      }
    }
    if (!missing.isEmpty()) {
      throw new EngineUnavailableException(ChronicleEngine.NAME, "run by a JVM with " + String.join(" ", missing),
          "run without");
    }
  }
}
