"""Archives and workbooks of a few lines, written by hand: nothing that tests need is installed for them."""

import io
import zipfile
from xml.sax.saxutils import escape

Cells = list[tuple[object, ...]]


def archive(files: dict[str, bytes | str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, inside in files.items():
            packed.writestr(name, inside)
    return content.getvalue()


def xlsx(sheets: dict[str, Cells]) -> bytes:
    """Return a workbook with these sheets, as small as the format allows."""

    def cell(value: object) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in zip(numbers, sheets, strict=True)
    )
    linked = "".join(
        f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/{n}.xml"/>' for n in numbers
    )
    files: dict[str, bytes | str] = {
        "_rels/.rels": f'<Relationships xmlns="{package}"><Relationship Id="r" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}">{linked}</Relationships>',
    }
    for number, rows in zip(numbers, sheets.values(), strict=True):
        data = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        files[f"xl/worksheets/{number}.xml"] = f'<worksheet xmlns="{main}"><sheetData>{data}</sheetData></worksheet>'
    return archive(files)


def ods(rows: Cells) -> bytes:
    """Return an OpenDocument sheet, as small as the format allows."""

    def cell(value: object) -> str:
        if isinstance(value, (int, float)):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        if value is None:
            return "<table:table-cell/>"
        lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in str(value).split("\n"))
        return f'<table:table-cell office:value-type="string">{lines}</table:table-cell>'

    space = "urn:oasis:names:tc:opendocument:xmlns:"
    data = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    content = (
        f'<office:document-content xmlns:office="{space}office:1.0" xmlns:table="{space}table:1.0" '
        f'xmlns:text="{space}text:1.0"><office:body><office:spreadsheet><table:table table:name="People">{data}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = f'<manifest:manifest xmlns:manifest="{space}manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return archive({"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})
