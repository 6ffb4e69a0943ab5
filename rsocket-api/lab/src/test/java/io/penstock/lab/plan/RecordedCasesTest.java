package io.penstock.lab.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.lab.LabRun;
import io.penstock.node.CommandLineRun;
import io.penstock.node.plan.Case;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The rules are those of an engine, as recorded cases say. The cases are not part of this repository: name their
/// folder in `-Dpenstock.oracles=…`; without it, `shared/oracles` beside the repository is looked for.
final class RecordedCasesTest {
  @TempDir
  private Path folder;
  private List<Path> files = List.of();

  @BeforeEach
  void find() throws IOException {
    Path oracles = Path.of(System.getProperty("penstock.oracles", "../../../shared/oracles"));
    assumeTrue(Files.isDirectory(oracles), "no folder " + oracles.toAbsolutePath());
    try (Stream<Path> all = Files.list(oracles)) {
      files = all.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    }
    assertThat(files).isNotEmpty();
  }

  @Test
  void everyCase_isAsItsRuleSays_andEveryKindOccurs() {
    List<String> kinds = new ArrayList<>();
    for (Path file : files) {
      CaseCheck check = CaseCheck.of(file.toString());
      assertThat(check.faults()).as("faults of %s", file).isEmpty();
      assertThat(check.differences()).as("differences of %s", file).isEmpty();
      kinds.addAll(check.kinds().keySet());
    }
    assertThat(kinds).doesNotHaveDuplicates().hasSize(30);
  }

  /// A check that finds nothing proves little unless it finds a changed answer.
  @Test
  void everyCase_withAChangedAnswer_differs() throws IOException {
    List<String> unnoticed = new ArrayList<>();
    for (Path file : files) {
      JsonNode root = JsonMapper.shared().readTree(file.toFile());
      for (Case one : Case.of(root)) {
        JsonNode copy = root.deepCopy();
        ObjectNode changed = (ObjectNode) copy.path(one.section()).get(one.number());
        JsonNode answer = Json.MAPPER.valueToTree(CaseRules.of(one).orElseThrow().answer().of(one));
        if (!change(changed, answer)) {
          continue;
        }
        Path written = Files.writeString(folder.resolve("copy.json"), copy.toString());
        if (CaseCheck.of(written.toString()).differences().stream().noneMatch(
            found -> found.section().equals(one.section()) && found.number() == one.number())) {
          unnoticed.add(file.getFileName() + " " + one.name() + " " + Case.shortened(changed.toString()));
        }
      }
    }
    assertThat(unnoticed).isEmpty();
  }

  /// Changes the first number among the fields that the rule computes.
  private static boolean change(ObjectNode one, JsonNode answer) {
    for (String name : answer.propertyNames()) {
      JsonNode value = one.path(name);
      if (value.isNumber()) {
        one.put(name, value.asDouble() + 1);
        return true;
      } else if (value.isContainer() && change(value)) {
        return true;
      }
    }
    return false;
  }

  private static boolean change(JsonNode node) {
    if (node instanceof ArrayNode list) {
      for (int i = 0; i < list.size(); i++) {
        if (list.get(i).isNumber()) {
          list.set(i, list.numberNode(list.get(i).asInt() + 1));
          return true;
        } else if (change(list.get(i))) {
          return true;
        }
      }
    } else if (node instanceof ObjectNode object) {
      for (String name : object.propertyNames()) {
        if (object.get(name).isNumber() && !name.equals("prompt_blocks")) {
          object.put(name, object.get(name).asInt() + 1);
          return true;
        } else if (change(object.get(name))) {
          return true;
        }
      }
    }
    return false;
  }

  @Test
  void command_checksAllFiles() {
    List<String> arguments = new ArrayList<>(List.of("plan", "--check"));
    files.forEach(file -> arguments.add(file.toString()));
    CommandLineRun run = LabRun.of(arguments.toArray(String[]::new));
    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out().lines()).hasSameSizeAs(files).allMatch(line -> line.endsWith(" 0 differences"));
  }

  /// Every case from standard input has a plan or an answer, but for one topology that an engine crashed on.
  @Test
  void command_plansEveryFile() throws IOException {
    for (Path file : files) {
      CommandLineRun run = LabRun.with(Map.of(), Files.readAllBytes(file), "plan", "--json");
      boolean refuses = file.endsWith("pcp_dcp_blocks.json");
      assertThat(run.exitCode()).as("%s: %s", file, run.err()).isEqualTo(refuses ? 1 : 0);
      assertThat(run.err()).isEqualTo(refuses
          ? "plan: case 7: dcp must divide tp / kvHeads, the ranks with equal heads "
              + "(was decode.dcp 2, decode.tp / kvHeads 8 / 8)\n"
          : "");
    }
  }
}
