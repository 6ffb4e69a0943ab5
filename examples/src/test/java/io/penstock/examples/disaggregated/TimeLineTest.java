package io.penstock.examples.disaggregated;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.disaggregated.node.LayerTime;
import io.penstock.examples.disaggregated.node.LayerTime.What;
import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

final class TimeLineTest {
  private final TimeLine timeLine = new TimeLine(List.of(new LayerTime(What.COMPUTE, 0, 0, 4_000),
      new LayerTime(What.WAIT, 0, 4_000, 5_000), new LayerTime(What.TRANSFER, 0, 5_000, 7_200),
      new LayerTime(What.COMPUTE, 1, 4_000, 6_000), new LayerTime(What.TRANSFER, 1, 7_200, 7_200)), 1);

  @Test
  void text_hasARowALayerAndAMarkAColumn() {
    List<String> lines = timeLine.text().lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(lines.getFirst()).contains("█ compute", "· wait", "▒ transfer").endsWith("| 7.2 ms");
    assertThat(lines.get(1)).isEqualTo("layer 0  |" + "█".repeat(40) + "·".repeat(9) + "▒".repeat(23) + "|");
    assertThat(lines.get(2)).isEqualTo("draft    |" + " ".repeat(39) + "█".repeat(21) + " ".repeat(11) + "▒|");
  }

  @Test
  void image_isXmlWithABarForEachTime() throws Exception {
    Element svg = DocumentBuilderFactory.newInstance().newDocumentBuilder()
        .parse(new InputSource(new StringReader(timeLine.svg("push: 4 <-> 2", "& more")))).getDocumentElement();
    assertThat(svg.getTagName()).isEqualTo("svg");
    assertThat(svg.getElementsByTagName("title").getLength()).isEqualTo(5);
    assertThat(svg.getTextContent()).contains("push: 4 <-> 2", "& more", "layer 0", "draft",
        "transfer, layer 0: 5.00 to 7.20 ms", "7.2 ms");
  }

  @Test
  void noTimes_areNoRows() {
    assertThat(new TimeLine(List.of(), 0).text().lines()).hasSize(1);
  }
}
